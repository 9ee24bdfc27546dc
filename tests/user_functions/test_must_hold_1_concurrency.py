"""Must hold 1: concurrency is the workers', not the submit's. bench/user_functions.py has the exact seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from uf_helpers import Executions, rows

import rewardloop as rl

FUNCTIONS = """
async def waits(item):
    executed(item)
    await asyncio.sleep(1)
    return 1.0

def blocks(item):
    executed(item)
    time.sleep(1)
    return 0.5

async def tells_when(item):
    begin = time.monotonic()
    await asyncio.sleep(1)
    return {"score": 1.0, "begin": begin, "end": time.monotonic()}
"""


@pytest.mark.parametrize(("function", "score"), [("waits", 1.0), ("blocks", 0.5)])
def test_16_submits_of_one_second_run_together_on_2_workers(
    functions: Callable[..., str], executions: Executions, function: str, score: float
) -> None:
    with rl.AsyncRewardPipeline(scorer=f"{functions(FUNCTIONS)}:{function}", num_workers=2) as p:
        p.collect(p.submit(rows(1, "warm")))
        begin = time.monotonic()
        handles = [p.submit([one]) for one in rows(16)]
        got = [p.collect(handle, timeout=60)[0].score for handle in handles]
        seconds = time.monotonic() - begin
    assert got == [score] * 16
    assert 1.0 <= seconds < 4  # one after the other on each of two workers: 8 s
    assert len({pid for name, _, pid in executions.all() if name != "warm0"}) == 2


def most_at_once(spans: list[tuple[float, float]]) -> int:
    marks = sorted([(begin, 1) for begin, _ in spans] + [(end, -1) for _, end in spans])
    running = most = 0
    for _, step in marks:
        running += step
        most = max(most, running)
    return most


def test_1000_async_seconds_with_256_in_flight(functions: Callable[..., str]) -> None:
    with rl.AsyncRewardPipeline(scorer=f"{functions(FUNCTIONS)}:tells_when", num_workers=2, max_concurrent=256) as p:
        begin = time.monotonic()
        results = p.collect(p.submit(rows(1000)), timeout=60)
        seconds = time.monotonic() - begin
    assert results.scores.tolist() == [1.0] * 1000
    assert 3.9 <= seconds < 12  # four waves of at most 256; one by one 1,000 s
    assert 200 <= most_at_once([(r.extra["begin"], r.extra["end"]) for r in results]) <= 256
