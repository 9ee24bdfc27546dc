"""Batch functions that run in the caller's process: who pays when a whole batch fails."""

from __future__ import annotations

import threading
from typing import Any

import rewardloop as rl

ROWS = [{"item_id": f"i{k}", "response": "x", "ground_truth": "x"} for k in range(5)]


def test_a_batch_that_raises_is_asked_again_item_by_item() -> None:
    calls: list[int] = []

    def judge(items: list[dict[str, Any]]) -> list[float]:
        calls.append(len(items))
        if any(item["item_id"] == "i3" for item in items):
            raise ValueError("no i3 please")
        return [0.5] * len(items)

    report = rl.score(ROWS, scorer=judge, manager="batch", on_error="null")
    assert [r.status for r in report.results] == ["scored", "scored", "scored", "error", "scored"]
    assert [r.score for r in report.results] == [0.5, 0.5, 0.5, None, 0.5]
    assert "no i3 please" in report.results[3].error.message
    assert sorted(calls) == [1, 1, 1, 1, 1, 5]


def test_a_batch_of_the_wrong_length_is_asked_again_too() -> None:
    def judge(items: list[dict[str, Any]]) -> list[float]:
        return [float(item["item_id"][1:]) for item in items[:1]]

    assert list(rl.score(ROWS, scorer=judge, manager="batch").scores) == [0, 1, 2, 3, 4]


def test_a_late_batch_is_not_since_its_thread_goes_on() -> None:
    calls: list[int] = []
    release = threading.Event()

    def judge(items: list[dict[str, Any]]) -> list[float]:
        calls.append(len(items))
        release.wait()
        return [1.0] * len(items)

    try:
        report = rl.score(ROWS, scorer=judge, manager="batch", on_error="null", timeout=0.05)
    finally:
        release.set()
    assert [r.status for r in report.results] == ["timeout"] * 5
    assert calls == [5]
