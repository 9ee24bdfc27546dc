"""Functions as slime takes them: --custom-rm-path slime_reward.reward (one sample), or reward_group (with --group-rm)."""

from __future__ import annotations

import asyncio
import typing

if typing.TYPE_CHECKING:
    from slime.utils.types import Sample


async def reward(args, sample: Sample, **kwargs) -> dict:
    await asyncio.sleep(0)  # a judge would be asked here
    if sample.status == type(sample).Status.TRUNCATED:
        return {"score": 0.0, "pred": ""}
    prediction = sample.response.rpartition("<answer>")[2].partition("</answer>")[0]
    return {"score": float(prediction == sample.label), "pred": prediction}


async def reward_group(args, samples: list[Sample], **kwargs) -> list[float]:
    return [(await reward(args, sample))["score"] for sample in samples]
