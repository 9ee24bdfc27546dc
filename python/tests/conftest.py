"""Shared helpers. Nothing here sleeps: what must wait, waits for a rate limit that never opens within a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import rewardloop as rl


def items(count: int, *, wrong: tuple[int, ...] = (), **fields: Any) -> list[dict[str, Any]]:
    """gsm8k items whose scores are 1, but for ``wrong`` ones."""
    return [
        {
            "item_id": f"q{i}",
            "response": f"thinking\n#### {i + 1 if i in wrong else i}",
            "ground_truth": str(i),
            **fields,
        }
        for i in range(count)
    ]


def stalled_options(**options: Any) -> dict[str, Any]:
    """Options under which the first item is scored and all others wait."""
    return {
        "scorer": "gsm8k",
        "manager": "rate_limited",
        "manager_args": {"max_rpm": 0.0001},
        "timeout": None,
        **options,
    }


@pytest.fixture
def pipeline() -> Iterator[rl.AsyncRewardPipeline]:
    with rl.AsyncRewardPipeline(scorer="gsm8k") as made:
        yield made


@pytest.fixture
def stalled() -> Iterator[rl.AsyncRewardPipeline]:
    with rl.AsyncRewardPipeline(**stalled_options()) as made:
        made.collect(made.submit(items(1)), timeout=30)  # takes the limiter's only token
        yield made
