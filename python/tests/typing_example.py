"""What mypy --strict must accept and understand. Checked by `mypy` and by test_typing.py; never run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import rewardloop as rl


def score_rows(rows: list[dict[str, object]]) -> NDArray[np.float64]:
    report: rl.ScoreReport = rl.score(rows, scorer="gsm8k", on_error="null", timeout=10.0)
    mask: NDArray[np.bool_] = report.valid
    return report.scores[mask]


def train(pipeline: rl.AsyncRewardPipeline) -> float:
    total = 0.0
    with pipeline.step() as step:
        item: rl.RewardItem = {"item_id": "a", "response": "#### 1", "ground_truth": 1, "group_id": "g"}
        handle: rl.BatchHandle = step.submit([item])
        step.sampling_done()
        for group in step.collect_groups(timeout=5.0):
            total += float(group.scores[group.valid].sum())
    for result in pipeline.collect(handle, timeout=60.0):
        score: float | None = result.score
        status: str = result.status
        if result.error is not None:
            message: str = result.error.message
            print(status, message, score)
    return total


async def serve() -> list[str]:
    async with rl.aio.AsyncRewardPipeline(scorer="math", overflow="block", num_workers=2) as pipeline:
        handle = await pipeline.submit([{"response": "x"}])
        async for group in pipeline.collect_groups():
            print(group.group_id)
        await pipeline.cancel(handle)
        return [r.item_id for r in await pipeline.collect(handle)]


def verify() -> bool:
    result = rl.verify("1/2", "0.5", profile="strict")
    vote = rl.math.vote(["1", None])
    return result.score == 1.0 and vote.answer == "1" and bool(rl.math.compare("1", "1"))
