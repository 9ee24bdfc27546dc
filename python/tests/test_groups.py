"""Groups and steps."""

from __future__ import annotations

import pytest
from conftest import items, stalled_options

import rewardloop as rl


def test_groups_of_one_submit_are_delivered_whole(pipeline: rl.AsyncRewardPipeline) -> None:
    rows = items(12, wrong=(0, 5))
    for i, row in enumerate(rows):
        row["group_id"] = f"g{i // 4}"
    handle = pipeline.submit(rows)
    groups = {g.group_id: g for g in pipeline.collect_groups(timeout=30)}
    assert sorted(groups) == ["g0", "g1", "g2"]
    assert groups["g0"].scores.tolist() == [0.0, 1.0, 1.0, 1.0] and groups["g1"].scores.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert all(g.complete and g.valid.all() and not g.missing and len(g) == 4 for g in groups.values())
    assert "g0" in repr(groups["g0"])
    assert len(pipeline.collect(handle)) == 12  # the other view delivers too


def test_members_that_come_one_by_one_close_by_group_size() -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k", group_size=4) as pipeline:
        rows = items(8)
        handles = [pipeline.submit([{**row, "group_id": i % 2}]) for i, row in enumerate(rows)]
        groups = {g.group_id: [r.item_id for r in g.results] for g in pipeline.collect_groups(timeout=30)}
        assert groups == {"0": ["q0", "q2", "q4", "q6"], "1": ["q1", "q3", "q5", "q7"]}
        del handles


def test_a_group_id_that_comes_again_is_refused(pipeline: rl.AsyncRewardPipeline) -> None:
    first = pipeline.submit(items(2, group_id="g"))
    with pytest.raises(ValueError, match="'g'"):
        pipeline.submit(items(2, group_id="g"))
    pipeline.collect(first)


def test_drop_group_masks_all_members_and_keeps_lengths() -> None:
    rows = items(4, group_id="g")
    rows[2]["ground_truth"] = None
    with rl.AsyncRewardPipeline(scorer="gsm8k", on_error="drop_group") as pipeline:
        handle = pipeline.submit(rows)
        (group,) = pipeline.collect_groups(timeout=30)
        assert len(group) == 4 and group.valid.tolist() == [False] * 4
        assert pipeline.collect(handle).valid.tolist() == [False] * 4


def test_explicit_groups_close_when_told() -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k", grouping="explicit") as pipeline:
        handles = [pipeline.submit(items(1, group_id="g")), pipeline.submit(items(1, group_id="g"))]
        with pytest.raises(TimeoutError):
            next(pipeline.collect_groups(timeout=0.01))
        with pytest.raises(KeyError, match="'h'"):
            pipeline.close_group("h")
        pipeline.close_group("g")
        (group,) = pipeline.collect_groups(timeout=30)
        assert len(group) == 2 and group.complete
        del handles


def test_a_group_deadline_names_the_missing() -> None:
    with rl.AsyncRewardPipeline(**stalled_options(group_deadline=0.05)) as pipeline:
        pipeline.collect(pipeline.submit(items(1)), timeout=30)
        handle = pipeline.submit([{**row, "group_id": "g"} for row in items(2)])
        (group,) = [next(pipeline.collect_groups(timeout=30))]
        assert not group.complete and group.missing == ["q0", "q1"] and len(group) == 0
        pipeline.cancel(handle)


def test_steps_keep_groups_and_metrics_apart(pipeline: rl.AsyncRewardPipeline) -> None:
    with pipeline.step() as first, pipeline.step() as second:
        assert first.id != second.id
        a, b = first.submit(items(2, group_id="g")), second.submit(items(2, wrong=(0,), group_id="g"))
        assert first.metrics()["reward_tail_after_sample"] is None
        first.sampling_done()
        second.sampling_done()
        (of_first,), (of_second,) = first.collect_groups(timeout=30), second.collect_groups(timeout=30)
        assert of_first.scores.tolist() == [1.0, 1.0] and of_second.scores.tolist() == [0.0, 1.0]
        assert (of_first.step, of_second.step) == (first.id, second.id)
        assert pipeline.collect(a)[0].step == first.id and pipeline.collect(b)[0].step == second.id
        metrics = first.metrics()
        assert metrics["items"] == 2 and metrics["reward_head_start"] is not None
        assert metrics["reward_tail_after_sample"] is not None
    with pytest.raises(RuntimeError, match="ended"):
        first.submit(items(1))


def test_groups_can_be_collected_after_the_step(pipeline: rl.AsyncRewardPipeline) -> None:
    with pipeline.step() as step:
        handle = step.submit(items(3, group_id="g"))
    (group,) = step.collect_groups(timeout=30)
    assert len(group) == 3 and len(handle) == 3
