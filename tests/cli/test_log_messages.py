"""What the engine's log says on the command line: on stderr, each thing once, whole lines over a progress line."""

import re

ROWS = [
    {"item_id": str(i), "data_source": ("mine", "yours")[i % 2], "response": "1", "ground_truth": "1"} for i in range(10)
]


def test_unknown_sources_are_warned_of_once_with_counts(run, write):
    rows = write("rows.jsonl", ROWS)
    done = run("score", rows, "--unknown-rewards", "warn", "--max-unscored", "10", "--progress", "never")
    assert done.code == 0 and len(done.rows()) == 10
    warnings = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    for source in ("mine", "yours"):
        of_source = [line for line in warnings if f"data source '{source}'" in line]
        assert len(of_source) == 2 and of_source[1].endswith("(4 times)"), done.err


def test_a_progress_line_is_not_torn(run, write):
    rows = write("rows.jsonl", ROWS)
    done = run("score", rows, "--unknown-rewards", "warn", "--max-unscored", "10", "--progress", "always")
    lines = done.err.split("\n")
    warnings = [line for line in lines if "warning: " in line]
    assert len(warnings) == 4
    for line in warnings:
        # What was drawn before is erased, and the message begins in the first column.
        assert re.search(r"(^|\r\x1b\[K)warning: no scorer is known", line), line
        assert line.count("warning: ") == 1
