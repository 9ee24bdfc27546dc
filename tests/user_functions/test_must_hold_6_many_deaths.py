"""Must hold 6: nothing is left after many calls of which one in a hundred kills its worker. REWARDLOOP_LONG_TESTS=1: 10^5 calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from uf_helpers import LONG, Executions, Leftovers, Outcome, read_rows, row

import rewardloop as rl

CALLS = 100_000 if LONG else 2_000

FUNCTION = """
    def dies_sometimes(item):
        number = int(item["item_id"][1:])
        if number % 100 == 37:
            executed(item)
            os.kill(os.getpid(), 9) if number % 200 == 37 else os._exit(1)
        return number
    """


def items() -> list[dict[str, object]]:
    return [row(f"h{i}") for i in range(CALLS)]


def resident_kb() -> int:
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1])


@pytest.mark.timeout(3600 if LONG else 120)
def test_nothing_is_left_after_calls_with_one_percent_deaths(
    functions: Callable[..., str], executions: Executions, leftovers: Leftovers
) -> None:
    before_kb = resident_kb()
    with rl.AsyncRewardPipeline(scorer=f"{functions(FUNCTION)}:dies_sometimes", num_workers=2, on_error="null") as p:
        got = p.collect(p.submit(items()), timeout=3600 if LONG else 100)
    for i, result in enumerate(got):
        if i % 100 == 37:
            assert result.error is not None and (result.status, result.error.class_) == ("error", "poison")
        else:
            assert result.score == i
    assert set(executions.counts().values()) == {2} and len(executions.counts()) == CALLS // 100
    del got
    assert resident_kb() - before_kb < 300_000


@pytest.mark.timeout(3600 if LONG else 120)
def test_nothing_is_left_after_a_command_with_deaths(
    functions: Callable[..., str], executions: Executions, write: Callable[..., Path], cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    count = min(CALLS, 2_000) // 4
    write("rows.jsonl", items()[:count])
    done = cli("score", "rows.jsonl", "--scorer", f"{functions(FUNCTION)}:dies_sometimes", "--num-workers", "2", "-o", "out.jsonl")
    assert done.code == 1, done.err  # rows without a score; the fixture has looked for processes
    got = read_rows(tmp_path / "out.jsonl")
    assert [r["score"] for r in got] == [None if i % 100 == 37 else float(i) for i in range(count)]


def test_closing_while_workers_start_leaves_nothing(functions: Callable[..., str], leftovers: Leftovers) -> None:
    path = functions("""
        def one(item):
            return 1.0
        """)
    for _ in range(8):
        with rl.AsyncRewardPipeline(scorer=f"{path}:one", num_workers=6):
            pass  # made when the first worker is there; the others are on their way
