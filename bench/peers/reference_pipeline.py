"""A reward pipeline as twinkle's benchmark report describes it, written from that description.

A thread pool of ``num_workers`` threads; every submit is one task that runs ``asyncio.run(manager.run_batch(items))``;
the manager awaits one coroutine per item behind a semaphore; collect restores input order by ``item_id``.
"""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

NUMBER = re.compile(r"#### (\-?[0-9\.\,]+)")


def gsm8k_score(solution_str: str, ground_truth: str) -> float:
    """The rule of the report: the number after ####, of the last 300 characters."""
    found = NUMBER.findall(solution_str[-300:])
    return float(bool(found) and found[-1].replace(",", "").replace("$", "") == ground_truth)


@dataclass
class RewardItem:
    item_id: str
    solution_str: str
    ground_truth: str
    extra_info: dict[str, Any] = field(default_factory=dict)


@dataclass
class RewardResult:
    item_id: str
    score: float
    extra: dict[str, Any] = field(default_factory=dict)


class NaiveManager:
    def __init__(self, max_concurrent: int = 256) -> None:
        self.max_concurrent = max_concurrent

    async def run_single(self, item: RewardItem, slots: asyncio.Semaphore) -> RewardResult:
        async with slots:
            return RewardResult(item.item_id, float(gsm8k_score(item.solution_str, item.ground_truth)))

    async def run_batch(self, items: list[RewardItem]) -> list[RewardResult]:
        slots = asyncio.Semaphore(self.max_concurrent)
        return await asyncio.gather(*[self.run_single(item, slots) for item in items])


class ReferencePipeline:
    def __init__(self, num_workers: int = 2) -> None:
        self.num_workers = num_workers
        self.pool = ThreadPoolExecutor(max_workers=num_workers)
        self.manager = NaiveManager()

    def submit(self, items: list[RewardItem]) -> tuple[list[str], list[Future[list[RewardResult]]]]:
        size = -(-len(items) // self.num_workers)
        chunks = [items[i : i + size] for i in range(0, len(items), size)]
        futures = [self.pool.submit(lambda part: asyncio.run(self.manager.run_batch(part)), chunk) for chunk in chunks]
        return [item.item_id for item in items], futures

    def collect(self, handle: tuple[list[str], list[Future[list[RewardResult]]]]) -> list[RewardResult]:
        ids, futures = handle
        by_id = {result.item_id: result for future in futures for result in future.result()}
        if len(by_id) != len(ids):
            raise ValueError("an item is missing or came twice")
        return [by_id[item_id] for item_id in ids]

    def close(self) -> None:
        self.pool.shutdown()
