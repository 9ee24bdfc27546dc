"""One output file, two processes: the second is told so and spoils nothing."""

from cli_helpers import TIMEOUT_SECONDS, gsm8k_row, read_rows
from test_must_hold_6_resume import GSM8K, LIMITED, check_finished, rows_of_two_kinds, start, wait_for_rows


def test_a_second_process_is_refused_while_the_first_writes(binary, run, write, tmp_path):
    write("rows.jsonl", rows_of_two_kinds(300))
    output = tmp_path / "out.jsonl"
    first = start(binary, tmp_path, "score", "rows.jsonl", *GSM8K, *LIMITED, "-o", "out.jsonl", "--progress", "always")
    wait_for_rows(first, output, 20)
    for extra in ([], ["--resume"]):
        second = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", *extra)
        assert second.code == 2
        assert second.err.startswith("error: out.jsonl: another process is writing this file\n"), second.err
    assert first.poll() is None
    first.communicate(timeout=TIMEOUT_SECONDS)
    assert first.returncode == 0
    check_finished(output, 300)
    # The lock ends with its process.
    again = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl")
    assert again.code == 0, again.err


def test_resume_without_an_earlier_run_starts_one(run, write, tmp_path):
    write("rows.jsonl", [gsm8k_row(i) for i in range(3)])
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--resume")
    assert got.code == 0, got.err
    assert len(read_rows(tmp_path / "out.jsonl")) == 3


def test_drop_group_is_refused_for_files(run, write, tmp_path):
    write("rows.jsonl", [gsm8k_row(1)])
    got = run("score", "rows.jsonl", *GSM8K, "-o", "out.jsonl", "--on-error", "drop_group")
    assert got.code == 2
    assert "drop_group" in got.err and "hint: use null" in got.err
    assert not (tmp_path / "out.jsonl").exists()
