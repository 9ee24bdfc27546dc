"""Rows of a session are judged together: the row with the highest index gives the score of all."""

import json
import subprocess

import pytest

from cli_helpers import TIMEOUT_SECONDS, gsm8k_row, read_rows

GSM8K = ("--scorer", "gsm8k")


def session(name: str, length: int, first: int = 0) -> list[dict]:
    """Only the last row has the right answer, so each row scores 1 exactly when the session was not torn."""
    return [
        {"item_id": f"{name}/{n}", "response": f"#### {n}", "ground_truth": str(length - 1), "session_id": name, "index": n}
        for n in range(first, length)
    ]


@pytest.mark.parametrize("backlog", [8, 9, 12, 4096])
def test_a_session_is_not_torn_where_the_backlog_ends(run, write, tmp_path, backlog):
    rows = []
    for n in range(100):
        rows += [gsm8k_row(n) for n in range(3 * n, 3 * n + n % 3)] + session(f"s{n}", 1 + n % 8)
    write("rows.jsonl", rows)
    got = run("score", "rows.jsonl", *GSM8K, "--backlog-items", backlog, "-o", "out.jsonl", "-q")
    assert got.code == 0, got.err
    assert [(row["item_id"], row["score"]) for row in read_rows(tmp_path / "out.jsonl")] == [(row["item_id"], 1.0) for row in rows]
    to_stdout = run("score", "rows.jsonl", *GSM8K, "--backlog-items", backlog, "-q")
    assert to_stdout.out == (tmp_path / "out.jsonl").read_text()


def test_a_bad_row_in_a_session_that_fills_the_backlog(run, write):
    rows = session("s", 6)
    rows.insert(2, {"item_id": "bad", "response": 5})
    write("rows.jsonl", rows)
    got = run("score", "rows.jsonl", *GSM8K, "--backlog-items", 7, "-q")
    assert [(row["item_id"], row["score"]) for row in got.rows()] == [(row["item_id"], None if row["item_id"] == "bad" else 1.0) for row in rows]


def test_a_session_larger_than_the_backlog_is_an_error_and_gets_no_score(run, write):
    write("rows.jsonl", [gsm8k_row(1), *session("long", 9)])
    got = run("score", "rows.jsonl", *GSM8K, "--backlog-items", 5, "-q")
    assert got.code == 2 and "rows.jsonl:7:1: the backlog has no room for all rows of session 'long'" in got.err
    assert "--backlog-items" in got.err
    assert [row["item_id"] for row in got.rows()] == ["row-1"]


def test_rows_of_a_session_far_apart_are_an_error_that_check_finds(run, write):
    rows = session("s", 600)
    write("rows.jsonl", rows[:1] + [gsm8k_row(n) for n in range(300)] + rows[1:])
    for verb in ("score", "check"):
        got = run(verb, "rows.jsonl", *GSM8K)
        assert got.code == 2, got.err
        assert "rows.jsonl:302:1: session 's' stands in line 1 already" in got.err and "sort" in got.err


def test_a_session_that_a_broken_line_cuts_gets_no_score(run, write):
    lines = [json.dumps(row) for row in [gsm8k_row(1), *session("whole", 3), *session("cut", 3)]]
    write("rows.jsonl", "\n".join([*lines[:-1], "{"]))
    got = run("score", "rows.jsonl", *GSM8K, "-q")
    assert got.code == 2 and "rows.jsonl:7:2" in got.err
    assert [row["item_id"] for row in got.rows()] == ["row-1", "whole/0", "whole/1", "whole/2"]


def test_a_session_that_comes_in_pieces_through_a_pipe(binary):
    lines = [json.dumps(row) + "\n" for row in [gsm8k_row(1), *session("s", 4)]]
    command = [binary, "score", "-", *GSM8K, "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write("".join(lines[:3]))
        process.stdin.flush()
        # The answer to the first row says that all three lines were read.
        assert json.loads(process.stdout.readline())["item_id"] == "row-1"
        out, _ = process.communicate("".join(lines[3:]), timeout=TIMEOUT_SECONDS)
    assert process.returncode == 0
    assert [json.loads(line)["score"] for line in out.splitlines()] == [1.0] * 4


@pytest.mark.parametrize("kept_rows", [1, 2, 3, 4, 5])
def test_resume_judges_a_session_whole(run, write, tmp_path, kept_rows):
    # The row that decides comes first, so that what a kill left behind would decide otherwise.
    write("rows.jsonl", [*session("before", 2), *reversed(session("s", 3)), gsm8k_row(1)])
    output = tmp_path / "out.jsonl"
    command = ("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--summary-json", "s.json", "-q")
    assert run(*command).code == 0
    whole = output.read_bytes()
    lines = whole.splitlines(keepends=True)
    output.write_bytes(b"".join(lines[:kept_rows]) + lines[kept_rows][:20])
    got = run(*command, "--resume")
    assert got.code == 0, got.err
    assert output.read_bytes() == whole
    summary = json.loads((tmp_path / "s.json").read_text())
    assert (summary["rows"], summary["data_sources"][""]["mean"]) == (6, 1.0)
    assert summary["rows_scored_now"] == 6 - (kept_rows if kept_rows in (2, 5) else 2 * (kept_rows > 1))
