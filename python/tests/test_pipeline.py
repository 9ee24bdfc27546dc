"""AsyncRewardPipeline from threads."""

from __future__ import annotations

import asyncio
import gc
import logging
import pickle
import threading
import time
from typing import Any

import pytest
from conftest import items, stalled_options

import rewardloop as rl
from rewardloop import _core
from rewardloop._types import PipelineOptions


def test_results_come_in_input_order(pipeline: rl.AsyncRewardPipeline) -> None:
    handles = [pipeline.submit(items(50, wrong=(k,))) for k in range(20)]
    for k in reversed(range(20)):
        results = pipeline.collect(handles[k], timeout=30)
        assert [r.item_id for r in results] == [f"q{i}" for i in range(50)]
        assert [r.score for r in results] == [float(i != k) for i in range(50)]
        assert handles[k].delivered and len(handles[k]) == 50


def test_results_are_delivered_once(pipeline: rl.AsyncRewardPipeline) -> None:
    handle = pipeline.submit(items(2))
    pipeline.collect(handle)
    with pytest.raises(KeyError, match="delivered"):
        pipeline.collect(handle)


def test_a_collect_time_out_leaves_the_handle_valid(stalled: rl.AsyncRewardPipeline) -> None:
    handle = stalled.submit(items(2))
    for _ in range(2):
        with pytest.raises(TimeoutError, match="handle stays valid"):
            stalled.collect(handle, timeout=0.01)
    assert not stalled.ready(handle)
    stalled.cancel(handle)
    with pytest.raises(rl.RewardError) as caught:
        stalled.collect(handle, timeout=30)
    assert [r.status for r in caught.value.results] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("timeout", [-1.0, float("nan")])
def test_bad_time_outs(pipeline: rl.AsyncRewardPipeline, timeout: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        pipeline.collect(pipeline.submit(items(1)), timeout=timeout)


def test_stream_gives_each_result_once(pipeline: rl.AsyncRewardPipeline) -> None:
    handle = pipeline.submit(items(200))
    seen = [r.item_id for r in pipeline.stream(handle, timeout=30)]
    assert sorted(seen) == sorted(f"q{i}" for i in range(200)) and handle.delivered


def test_a_dropped_handle_cancels_and_counts_its_items(stalled: rl.AsyncRewardPipeline) -> None:
    before = stalled.engine.metrics()
    stalled.submit(items(5))
    gc.collect()
    assert stalled.backlog_items == 0
    after = stalled.engine.metrics()
    changed = {key for key in after if isinstance(after[key], int) and after[key] == before[key] + 5}
    assert any("drop" in key for key in changed), changed


def test_a_handle_of_another_pipeline_is_refused(pipeline: rl.AsyncRewardPipeline) -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k") as other, pytest.raises(ValueError, match="another pipeline"):
        other.collect(pipeline.submit(items(1)))


def test_submit_after_close(pipeline: rl.AsyncRewardPipeline) -> None:
    handle = pipeline.submit(items(100))
    pipeline.close("drain", timeout=30)
    assert all(r.score == 1.0 for r in pipeline.collect(handle))
    with pytest.raises(RuntimeError, match="closed"):
        pipeline.submit(items(1))


def test_close_modes(stalled: rl.AsyncRewardPipeline) -> None:
    handle = stalled.submit(items(3))
    with pytest.raises(TimeoutError):
        stalled.close("drain", timeout=0.01)
    with pytest.raises(ValueError, match="drain"):
        stalled.close("later")  # type: ignore[arg-type]
    stalled.close("cancel", timeout=30)
    with pytest.raises(rl.RewardError) as caught:
        stalled.collect(handle, timeout=0)
    assert {r.status for r in caught.value.results} == {"cancelled"}


def test_leaving_with_cancels() -> None:
    with rl.AsyncRewardPipeline(**stalled_options(on_error="null")) as pipeline:
        handle = pipeline.submit(items(3))
    statuses = [r.status for r in pipeline.collect(handle)]
    assert statuses[1:] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("policy, scores, valid", [
    ("null", [1.0, None], [True, False]),
    ("zero", [1.0, 0.0], [True, True]),
    ("value:-2.5", [1.0, -2.5], [True, True]),
])
def test_on_error_policies(policy: str, scores: list[float | None], valid: list[bool]) -> None:
    rows = items(2)
    rows[1]["ground_truth"] = None
    with rl.AsyncRewardPipeline(scorer="gsm8k", on_error=policy) as pipeline:
        results = pipeline.collect(pipeline.submit(rows))
    assert [r.score for r in results] == scores and results.valid.tolist() == valid
    assert results[1].status == "unscorable" and results[1].policy_value == (scores[1] is not None)


def test_on_error_raise_hands_over_all_results(pipeline: rl.AsyncRewardPipeline) -> None:
    rows = items(3)
    rows[1]["ground_truth"] = None
    with pytest.raises(rl.RewardError, match=r"1 of 3 items .*'q1'.*no_ground_truth") as caught:
        pipeline.collect(pipeline.submit(rows))
    assert [r.score for r in caught.value.results] == [1.0, None, 1.0]


@pytest.mark.parametrize("options, kind, message", [
    ({"scorer": "gsm9k"}, KeyError, "did you mean 'gsm8k'"),
    ({"scorer": "gsm9k"}, ValueError, "did you mean 'gsm8k'"),
    ({"manager": "naiv"}, KeyError, "naive"),
    ({"scorer": "gsm8k", "scorer_args": {"methd": "strict"}}, ValueError, "method"),
    ({"scorer": "gsm8k", "scorer_args": {"method": "flexibel"}}, ValueError, "flexible"),
    ({"scorr": "gsm8k"}, TypeError, "did you mean 'scorer'"),
    ({"scorr": "gsm8k"}, ValueError, "did you mean 'scorer'"),
    ({"on_error": "ignore"}, ValueError, "on_error"),
    ({"overflow": "wait"}, ValueError, "overflow"),
    ({"timeout": -1}, ValueError, "timeout"),
    ({"backlog_items": "many"}, ValueError, "backlog_items"),
    ({"scorer": "my.py:fn"}, ValueError, "no Python file 'my.py'"),
    ({"scorer": 3}, ValueError, "a name or a function, not 3"),
    ({"scorer": lambda a, b: 1.0}, ValueError, "fit no form that is known"),
    ({"manager": object}, ValueError, "a RewardManager or a subclass"),
])
def test_bad_options_are_clear_errors(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        rl.AsyncRewardPipeline(**options)
    assert isinstance(caught.value, rl.Error)


def test_the_typed_options_are_the_keys_of_the_configuration() -> None:
    names = {key["name"] for key in _core._config_keys()}
    assert set(PipelineOptions.__annotations__) == names


def test_the_options_of_the_design_are_accepted() -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k", manager="naive", num_workers=2, max_concurrent=256, timeout=10.0,
                                total_timeout=None, queue_timeout=None, backlog_items=4096, overflow="block",
                                on_error="raise", grouping="submit") as pipeline:
        config = pipeline.config
        assert config["num_workers"] == 2 and config["timeout"] == 10.0 and config["scorer"] == "gsm8k"
    with rl.AsyncRewardPipeline(**config) as again:
        assert again.config == config


def test_pipelines_refuse_pickling_and_name_the_alternative(pipeline: rl.AsyncRewardPipeline) -> None:
    with pytest.raises(TypeError, match=r"\.config"):
        pickle.dumps(pipeline)
    with pytest.raises(TypeError, match="Engine"):
        pickle.dumps(pipeline.engine)
    assert pickle.loads(pickle.dumps(pipeline.config)) == pipeline.config


def test_unknown_data_sources() -> None:
    row = {"item_id": "a", "data_source": "openai/gsm9k", "response": "#### 1", "ground_truth": "1"}
    with rl.AsyncRewardPipeline() as pipeline, pytest.raises((KeyError, ValueError), match="openai/gsm9k"):
        pipeline.submit([row])
    with rl.AsyncRewardPipeline(unknown_rewards="warn", on_error="null") as pipeline:
        (result,) = pipeline.collect(pipeline.submit([row]))
    assert result.status == "unscorable" and result.error is not None and result.error.class_ == "no_scorer"


def test_the_logger_counts_what_has_no_score(caplog: pytest.LogCaptureFixture) -> None:
    rows = [{**row, "ground_truth": None} for row in items(12)]
    with caplog.at_level(logging.WARNING, "rewardloop"), rl.AsyncRewardPipeline(scorer="gsm8k", on_error="null") as pipeline:
        for row in rows:
            assert pipeline.collect(pipeline.submit([row])).missing == 1
    said = [record.getMessage() for record in caplog.records if record.name == "rewardloop"]
    assert len(said) == 2 and "unscorable(no_ground_truth), 1 so far; item 'q0'" in said[0] and "10 so far" in said[1]


def test_full_backlog_rejects_by_name() -> None:
    with rl.AsyncRewardPipeline(**stalled_options(backlog_items=4, overflow="reject", on_error="null")) as pipeline:
        pipeline.collect(pipeline.submit(items(1)), timeout=30)
        results = pipeline.submit(items(6))
        pipeline.close("cancel", timeout=30)
        statuses = [r.status for r in pipeline.collect(results)]
    assert statuses == ["cancelled"] * 4 + ["rejected"] * 2


def test_uncollected_results_are_bounded() -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k", uncollected_items=10) as pipeline:
        kept = pipeline.submit(items(10))
        while not pipeline.ready(kept):
            time.sleep(0)
        with pytest.raises(rl.OverloadedError, match="collect first"):
            pipeline.submit(items(1))
        pipeline.collect(kept)
        pipeline.collect(pipeline.submit(items(1)))


def test_sixteen_threads_share_one_pipeline(pipeline: rl.AsyncRewardPipeline) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for round_ in range(20):
                wrong = (seed + round_) % 10
                results = pipeline.collect(pipeline.submit(items(10, wrong=(wrong,))), timeout=60)
                assert [r.score for r in results] == [float(i != wrong) for i in range(10)]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_waiting_does_not_hold_the_gil(stalled: rl.AsyncRewardPipeline) -> None:
    handle = stalled.submit(items(1))
    counted = threading.Event()

    def count() -> None:  # runs only while the main thread waits without the GIL
        stalled.cancel(handle)
        counted.set()

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(rl.RewardError):
        stalled.collect(handle, timeout=60)
    thread.join()
    assert counted.is_set()


def test_sync_calls_work_inside_a_running_loop(pipeline: rl.AsyncRewardPipeline) -> None:
    async def main() -> float | None:
        return pipeline.collect(pipeline.submit(items(1)))[0].score

    assert asyncio.run(main()) == 1.0


def test_two_pipelines_share_the_default_engine(pipeline: rl.AsyncRewardPipeline) -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k") as other:
        before = other.engine.metrics()["items_submitted"]
        pipeline.collect(pipeline.submit(items(3)))
        assert other.engine.metrics()["items_submitted"] == before + 3
    with rl.AsyncRewardPipeline(scorer="gsm8k", engine=rl.Engine(threads=1)) as own:
        own.collect(own.submit(items(3)))
        assert own.engine.threads == 1 and own.engine.metrics()["items_submitted"] == 3


def test_limiters_of_one_name_agree() -> None:
    engine = rl.Engine(threads=1)
    engine.define_limiter("judge", max_concurrent=4)
    engine.define_limiter("judge", max_concurrent=4)
    with pytest.raises(ValueError, match="judge"):
        engine.define_limiter("judge", max_concurrent=5)


def test_exit_with_an_open_pipeline_is_quick(tmp_path: Any) -> None:
    import subprocess
    import sys

    code = (
        "import rewardloop as rl\n"
        "p = rl.AsyncRewardPipeline(scorer='gsm8k', manager='rate_limited', manager_args={'max_rpm': 0.0001}, timeout=None)\n"
        "h = p.submit([{'item_id': str(i), 'response': '#### 1', 'ground_truth': '1'} for i in range(10)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
