"""Must hold 6: SIGINT and kill -9 mid-run, then --resume: no row is lost, none is there twice."""

import json
import os
import re
import signal
import subprocess

import pytest

from cli_helpers import TIMEOUT_SECONDS, gsm8k_row, read_rows

GSM8K = ("--scorer", "gsm8k")
# Slow enough to be interrupted, without sleeping: rows pass a limiter.
LIMITED = ("--manager", "rate_limited", "--manager-arg", "max_rpm=6000", "--backlog-items", "20")


def start(binary, tmp_path, *arguments):
    return subprocess.Popen([binary, *arguments], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE)


def wait_for_rows(process, output, count):
    """Follows the progress line until the output file has `count` whole rows."""
    while True:
        assert process.stderr.read1(4096), "the command ended early"
        if output.exists() and output.read_bytes().count(b"\n") >= count:
            return


def rows_of_two_kinds(count):
    return [gsm8k_row(i, right=i % 4 != 0) for i in range(count)]


def expected_scores(count):
    return {f"row-{i}": float(i % 4 != 0) for i in range(count)}


def check_finished(path, count):
    rows = read_rows(path)
    assert [r["item_id"] for r in rows] == [f"row-{i}" for i in range(count)]
    assert {r["item_id"]: r["score"] for r in rows} == expected_scores(count)


def test_kill_9_mid_run_then_resume(binary, run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(400))
    command = ("score", "rows.jsonl", *GSM8K, *LIMITED, "-o", "out.jsonl", "--progress", "always")
    output = tmp_path / "out.jsonl"
    process = start(binary, tmp_path, *command)
    wait_for_rows(process, output, 50)
    process.kill()
    process.communicate(timeout=TIMEOUT_SECONDS)
    survived = [json.loads(line) for line in output.read_bytes().split(b"\n")[:-1]]
    assert 50 <= len(survived) < 400
    with open(output, "ab") as file:
        file.write(b'{"item_id": "row-399", "status": "sco')  # a torn last line
    got = run("score", "rows.jsonl", *GSM8K, "--manager", "rate_limited", "--manager-arg", "max_rpm=6000", "-o", "out.jsonl",
              "--resume", "--summary-json", "summary.json")
    assert got.code == 0, got.err
    check_finished(output, 400)
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert (summary["rows"], summary["rows_scored_now"]) == (400, 400 - len(survived))


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_cleanly_then_resume(binary, run, write, tmp_path, number, code):
    write("rows.jsonl", rows_of_two_kinds(400))
    command = ("score", "rows.jsonl", *GSM8K, *LIMITED, "-o", "out.jsonl", "--progress", "always")
    output = tmp_path / "out.jsonl"
    process = start(binary, tmp_path, *command)
    wait_for_rows(process, output, 20)
    process.send_signal(number)
    _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == code
    assert b"--resume" in err and b"interrupted" in err
    content = output.read_bytes()
    assert content.endswith(b"\n") and 20 <= content.count(b"\n") < 400
    got = run(*command, "--resume")
    assert got.code == 0, got.err
    check_finished(output, 400)


def test_rows_reach_the_file_while_a_batch_trickles(binary, write, tmp_path):
    # One batch of 250 rows at 100 a second: the first rows must not wait for the last.
    write("rows.jsonl", rows_of_two_kinds(250))
    process = start(binary, tmp_path, "score", "rows.jsonl", *GSM8K, "--manager", "rate_limited", "--manager-arg", "max_rpm=6000",
                    "-o", "out.jsonl", "--progress", "always")
    wait_for_rows(process, tmp_path / "out.jsonl", 1)
    assert (tmp_path / "out.jsonl").read_bytes().count(b"\n") < 250
    process.communicate(timeout=TIMEOUT_SECONDS)
    check_finished(tmp_path / "out.jsonl", 250)


def test_second_signal_ends_at_once(binary, write, tmp_path):
    # One row a minute: the drain would take longer than the test.
    write("rows.jsonl", rows_of_two_kinds(10))
    process = start(binary, tmp_path, "score", "rows.jsonl", *GSM8K, "--manager", "rate_limited", "--manager-arg", "max_rpm=1",
                    "-o", "out.jsonl", "--progress", "always")
    wait_for_rows(process, tmp_path / "out.jsonl", 1)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=9)
    assert process.returncode in (130, 143)


def test_signal_while_waiting_for_standard_input(binary, tmp_path):
    process = subprocess.Popen([binary, "score", "-", *GSM8K], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdin.write(json.dumps(gsm8k_row(1)).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["score"] == 1.0  # appended as results come, with the input still open
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=TIMEOUT_SECONDS) == 130
    process.communicate()


def test_rows_without_a_score_run_again_and_their_rows_are_replaced(run, write, tmp_path):
    rows = [gsm8k_row(i) for i in range(10)]
    for number in (3, 7):
        del rows[number]["ground_truth"]
    write("rows.jsonl", rows)
    command = ("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--max-unscored", "2")
    assert run(*command).code == 0
    before = (tmp_path / "out.jsonl").read_bytes()
    # The output of a run that was killed after an error, in an order of its own.
    lines = before.splitlines(keepends=True)
    (tmp_path / "out.jsonl").write_bytes(b"".join(lines[i] for i in (1, 0, 3, 2, 7)))
    got = run(*command, "--resume", "--summary-json", "summary.json")
    assert got.code == 0, got.err
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert json.loads((tmp_path / "summary.json").read_text())["rows_scored_now"] == 7


def test_resume_of_a_finished_file_does_nothing(run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(10))
    command = ("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    run(*command)
    before = (tmp_path / "out.jsonl").read_bytes()
    stamp = os.stat(tmp_path / "out.jsonl").st_mtime_ns
    got = run(*command, "--resume")
    assert got.code == 0
    assert (tmp_path / "out.jsonl").read_bytes() == before
    assert os.stat(tmp_path / "out.jsonl").st_mtime_ns == stamp
    assert "0 rows scored" in got.err and re.search(r"\(none\)\s+10\b", got.err)


def test_resume_without_an_output_starts_from_the_beginning(run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(10))
    assert run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--resume").code == 0
    check_finished(tmp_path / "out.jsonl", 10)


@pytest.mark.parametrize("change,named", [
    (("--scorer", "verl/gsm8k"), "config.scorer was"),
    (("--scorer", "gsm8k", "--scorer-arg", "method=flexible"), "scorer_args"),
    (("--scorer", "gsm8k", "--manager", "batch"), "config.manager was"),
    (("--scorer", "gsm8k", "--field", "ground_truth=item_id"), "fields"),
    (("--scorer", "gsm8k", "--timing"), "timing was"),
])
def test_another_scorer_or_configuration_is_refused(run, write, tmp_path, change, named):
    write("rows.jsonl", rows_of_two_kinds(10))
    run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    before = (tmp_path / "out.jsonl").read_bytes()
    got = run("score", "rows.jsonl", *change, "-o", "out.jsonl", "--resume")
    assert got.code == 2
    assert "cannot be resumed" in got.err and named in got.err
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_another_input_is_refused(run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(10))
    run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    write("rows.jsonl", rows_of_two_kinds(11))
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--resume")
    assert got.code == 2 and "cannot be resumed" in got.err and "input." in got.err


def test_threads_and_time_outs_may_change(run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(10))
    run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--resume", "-j", "2", "--timeout", "99", "--on-error", "null")
    assert got.code == 0, got.err


def test_a_file_of_somebody_else_is_not_resumed(run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(3))
    write("out.jsonl", "my notes\n")
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--resume")
    assert got.code == 2 and "cannot be resumed" in got.err
    assert (tmp_path / "out.jsonl").read_text() == "my notes\n"


def test_resume_needs_files(run, write):
    write("rows.jsonl", rows_of_two_kinds(3))
    assert run("score", "rows.jsonl", *GSM8K, "--resume").code == 2
    assert run("score", "-", *GSM8K, "-o", "out.jsonl", "--resume").code == 2


def test_sidecar_has_a_schema_version(run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(3))
    run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    sidecar = json.loads((tmp_path / "out.jsonl.rewardloop.json").read_text())
    assert sidecar["schema"] == 1 and sidecar["finished"] is True and sidecar["scorers"] == {"gsm8k": "1"}
