"""Must hold 7: same rows, 1 and 8 threads: byte-identical output; shuffled rows: identical after sorting by item_id."""

import json
import random

import pytest

from cli_helpers import SOURCE_DIR, gsm8k_row

QUICKSTART = SOURCE_DIR / "examples/quickstart"


def some_rows(count):
    rows = []
    for i in range(count):
        row = gsm8k_row(i, right=i % 3 != 0, data_source="openai/gsm8k", group_id=f"g{i // 8}", group_size=8)
        if i % 17 == 0:
            del row["ground_truth"]
        if i % 23 == 0:
            row["response"] = "no answer at all"
        rows.append(row)
    return rows


@pytest.mark.parametrize("extra", [(), ("--manager", "batch"), ("--manager", "rate_limited", "--manager-arg", "max_concurrent=3")])
def test_one_and_eight_threads_give_the_same_bytes(run, write, extra):
    write("rows.jsonl", some_rows(6000))
    first = run("score", "rows.jsonl", "-j", "1", *extra)
    second = run("score", "rows.jsonl", "-j", "8", *extra)
    assert first.code == second.code == 1
    assert len(first.raw_out.splitlines()) == 6000
    assert first.raw_out == second.raw_out


def test_shuffled_rows_are_the_same_rows(run, write):
    rows = some_rows(3000)
    write("rows.jsonl", rows)
    random.Random(7).shuffle(rows)
    write("shuffled.jsonl", rows)
    in_order = run("score", "rows.jsonl", "-j", "2").out.splitlines()
    shuffled = run("score", "shuffled.jsonl", "-j", "2").out.splitlines()

    def by_id(lines):
        return sorted(lines, key=lambda line: json.loads(line)["item_id"])

    assert in_order != shuffled
    assert by_id(in_order) == by_id(shuffled)


def test_quickstart_with_every_scorer_of_it(run):
    if not QUICKSTART.exists():
        pytest.skip("no examples/quickstart here")
    command = ("score", QUICKSTART / "rollouts.jsonl", "-c", QUICKSTART / "rewards.yaml")
    first, second = (run(*command, "-j", threads) for threads in ("1", "8"))
    assert first.code == 1, first.err
    assert len(first.raw_out.splitlines()) == 300
    assert first.raw_out == second.raw_out


def test_timing_is_there_only_when_asked_for(run, write):
    write("rows.jsonl", some_rows(10))
    assert all("timing" not in row for row in run("score", "rows.jsonl").rows())
    for row in run("score", "rows.jsonl", "--timing").rows():
        timing = row["timing"]
        assert timing["attempts"] >= 1 and timing["queued"] <= timing["started"] <= timing["finished"]


def test_locale_does_not_change_the_output(run, write):
    import os
    write("rows.jsonl", some_rows(50))
    plain = run("score", "rows.jsonl").raw_out
    assert run("score", "rows.jsonl", env={**os.environ, "LC_ALL": "de_DE.UTF-8"}).raw_out == plain
