"""rl.RewardManager: managers in Python."""

from __future__ import annotations

from typing import Any

import pytest

import rewardloop as rl


def rows(count: int, group: int = 0) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [
        {"item_id": f"i{k}", "response": f"#### {k}", "ground_truth": str(k if k % 2 else -1)} for k in range(count)
    ]
    if group:
        for k, item in enumerate(items):
            item["group_id"] = f"g{k // group}"
    return items


def test_one_item_without_a_scorer() -> None:
    class Length(rl.RewardManager):
        def run_item(self, item: dict[str, Any]) -> tuple[float, dict[str, Any]]:
            return float(len(item["response"])), {"id": item["item_id"]}

    report = rl.score(rows(2), manager=Length)
    assert list(report.scores) == [6, 6] and report.results[1].extra == {"id": "i1"}


def test_one_item_after_its_scorer_keeps_what_the_scorer_said() -> None:
    class Shaped(rl.RewardManager):
        def run_item(self, item: dict[str, Any], verdict: dict[str, Any]) -> dict[str, Any]:
            return {**verdict, "score": verdict["score"] * 2, "components": {"raw": verdict["score"]}}

    report = rl.score(rows(4), scorer="gsm8k", manager=Shaped())
    assert list(report.scores) == [0, 2, 0, 2]
    assert report.results[1].extracted == "1" and report.results[1].components == {"raw": 1.0}
    assert report.results[1].scorer == "gsm8k"


def test_a_verdict_without_a_score_passes_through_as_it_is() -> None:
    class Same(rl.RewardManager):
        def run_item(self, item: dict[str, Any], verdict: dict[str, Any]) -> dict[str, Any]:
            return verdict

    items = [*rows(2), {"item_id": "none", "response": "#### 1"}]
    report = rl.score(items, scorer="gsm8k", manager=Same, on_error="null")
    assert [result.status for result in report.results] == ["scored", "scored", "unscorable"]
    error = report.results[2].error
    assert error is not None and error.class_ == "no_ground_truth"


def test_a_group_is_handed_over_whole_and_by_id() -> None:
    seen = []

    class Rank(rl.RewardManager):
        def run_group(self, items: dict[str, Any], verdicts: dict[str, Any]) -> dict[str, float]:
            seen.append(sorted(items))
            best_first = sorted(items, key=lambda i: (-verdicts[i]["score"], i))
            return {item_id: 1.0 / (place + 1) for place, item_id in enumerate(best_first)}

    # In each group of 4 the items with odd numbers are right: they rank before the others, by id.
    report = rl.score(rows(8, group=4), scorer="gsm8k", manager=Rank)
    expected = {"i1": 1, "i3": 1 / 2, "i0": 1 / 3, "i2": 1 / 4, "i5": 1, "i7": 1 / 2, "i4": 1 / 3, "i6": 1 / 4}
    assert {result.item_id: result.score for result in report.results} == expected
    assert sorted(seen) == [["i0", "i1", "i2", "i3"], ["i4", "i5", "i6", "i7"]]


def test_members_that_come_one_by_one_wait_for_their_siblings() -> None:
    class Count(rl.RewardManager):
        async def run_group(self, items: dict[str, Any]) -> dict[str, int]:
            return dict.fromkeys(items, len(items))

    with rl.AsyncRewardPipeline(manager=Count, group_size=4, max_concurrent=1) as pipeline:
        handles = [pipeline.submit([row]) for row in rows(8, group=4)]
        assert [pipeline.collect(handle, 60)[0].score for handle in handles] == [4] * 8


def test_batches_are_at_most_as_large_as_asked() -> None:
    sizes = []

    class Batches(rl.RewardManager):
        max_batch = 3

        def run_batch(self, items: dict[str, Any]) -> dict[str, float]:
            sizes.append(len(items))
            return dict.fromkeys(items, 1.0)

    assert list(rl.score(rows(8), manager=Batches).scores) == [1.0] * 8
    assert sum(sizes) == 8 and max(sizes) <= 3


@pytest.mark.parametrize(("returned", "message"), [
    ({"i0": 1.0}, "no reward for 'i1'"),
    ({"i0": 1.0, "i1": 1.0, "i9": 1.0}, "ids that it was not given: 'i9'"),
    ([1.0, 1.0], "a list instead of"),
])
def test_missing_and_unknown_ids_are_errors_that_name_them(returned: Any, message: str) -> None:
    class Wrong(rl.RewardManager):
        def run_group(self, items: dict[str, Any]) -> Any:
            return returned

    results = rl.score(rows(2, group=2), manager=Wrong, on_error="null").results
    assert results[1].status == "error"
    assert results[1].error is not None and message in results[1].error.message


def test_a_manager_that_raises_is_an_error_of_its_items() -> None:
    class Broken(rl.RewardManager):
        def run_group(self, items: dict[str, Any]) -> dict[str, float]:
            raise LookupError("no judge")

    results = rl.score(rows(2, group=2), manager=Broken, on_error="null").results
    assert [(r.status, r.error.class_) for r in results if r.error] == [("error", "exception")] * 2


def test_registered_by_name_with_arguments() -> None:
    @rl.manager("test-constant")
    class Constant(rl.RewardManager):
        def __init__(self, value: float) -> None:
            self.value = value

        def run_item(self, item: dict[str, Any]) -> float:
            return self.value

    assert list(rl.score(rows(2), manager="test-constant", manager_args={"value": 7}).scores) == [7, 7]


def test_a_manager_must_override_one_method() -> None:
    class Nothing(rl.RewardManager):
        pass

    class Both(rl.RewardManager):
        def run_item(self, item: dict[str, Any]) -> float:
            return 1.0

        def run_group(self, items: dict[str, Any]) -> dict[str, float]:
            return {}

    with pytest.raises(TypeError, match="it has none"):
        rl.score(rows(1), manager=Nothing)
    with pytest.raises(TypeError, match="run_item and run_group"):
        rl.score(rows(1), manager=Both)


@pytest.mark.parametrize(("size", "value"), [("threads", 0), ("max_batch", 0), ("max_batch", "all"), ("threads", None)])
def test_sizes_of_a_manager_are_checked(size: str, value: Any) -> None:
    class One(rl.RewardManager):
        def run_item(self, item: dict[str, Any]) -> float:
            return 1.0

    setattr(One, size, value)
    with pytest.raises(rl.ArgumentError, match=f"{size} of One must be an integer of at least 1"):
        rl.score(rows(1), manager=One)


def test_the_engine_writes_times_and_metrics_of_a_users_manager() -> None:
    class One(rl.RewardManager):
        def run_item(self, item: dict[str, Any]) -> float:
            return 1.0

    with rl.AsyncRewardPipeline(manager=One) as pipeline:
        with pipeline.step() as step:
            handle = step.submit(rows(3))
            step.sampling_done()
            results = pipeline.collect(handle)
            metrics = step.metrics()
    for result in results:
        assert result.timing.queued <= result.timing.started <= result.timing.finished
    assert metrics["items"] == 3 and metrics["reward_tail_after_sample"] is not None
