"""`rewardloop check --trial`: what a run with a Python function would meet, found before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from uf_helpers import Outcome

Cli = Callable[..., Outcome]
Write = Callable[..., Path]


def rows(count: int, **extra: Any) -> list[dict[str, Any]]:
    return [{"item_id": f"i{k}", "data_source": "d", "response": "x", "ground_truth": "x"} | extra for k in range(count)]


def test_keys_that_the_function_misses_are_named_with_function_and_line(
    cli: Cli, write: Write, functions: Callable[..., str]
) -> None:
    path = functions("""
        def reads(data_source, solution_str, ground_truth, extra_info):
            return float(extra_info["question"] == "q")
        """)
    whole = write("a.jsonl", rows(10, extra_info={"question": "q"}))
    done = cli("check", whole, "--trial", "10", "--scorer", f"{path}:reads")
    assert done.code == 0 and "ok: 10 rows, 1 data source, 10 rows tried" in done.out
    lacking = rows(10, extra_info={"question": "q"})
    for k in (2, 5, 6):
        lacking[k]["extra_info"] = {}
    done = cli("check", write("b.jsonl", lacking), "--trial", "10", "--scorer", f"{path}:reads")
    assert done.code == 2
    (line,) = [line for line in done.err.splitlines() if "scoring this row" in line]
    assert "b.jsonl:3:1: scoring this row ends as error (exception): KeyError: 'question'" in line and "in reads" in line
    assert "10 rows tried; 3 errors" in done.out


def test_a_function_that_remembers_is_not_reproducible(cli: Cli, write: Write, functions: Callable[..., str]) -> None:
    path = functions("""
        calls = []
        def counts(item):
            calls.append(item)
            return float(len(calls))
        """)
    done = cli("check", write("rows.jsonl", rows(4)), "--trial", "2", "--scorer", f"{path}:counts",
               "--num-workers", "1", "--threads-per-worker", "1")
    assert done.code == 2 and "2 rows tried; 2 errors" in done.out
    assert "gives this row 1.0 in one run and 4.0 in another" in done.err


def test_random_numbers_are_the_items_own(cli: Cli, write: Write, functions: Callable[..., str]) -> None:
    path = functions("""
        import random
        def draws(item):
            return random.random()
        """)
    done = cli("check", write("rows.jsonl", rows(50)), "--trial", "50", "--scorer", f"{path}:draws", "--num-workers", "2")
    assert done.code == 0, done.err


def test_groups_that_are_cut_and_rows_that_cannot_be_judged_do_not_stop_it(
    cli: Cli, write: Write, functions: Callable[..., str]
) -> None:
    grouped = [{**row, "group_id": f"g{k // 4}", "group_size": 4} for k, row in enumerate(rows(8, ground_truth="72"))]
    grouped[1]["item_id"] = "i0"  # named as a duplicate, tried once
    del grouped[2]["ground_truth"]
    done = cli("check", write("rows.jsonl", grouped), "--trial", "6", "--scorer", "gsm8k")
    assert done.code == 2
    assert "stands in line 1 already" in done.err and "needs one" in done.err and "scoring this row" not in done.err
    assert "6 rows tried" in done.out
