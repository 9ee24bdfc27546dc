"""Scorers that run in the caller's process: closures, bound objects, functions of __main__."""

from __future__ import annotations

import asyncio
import io
import logging
import os
import subprocess
import sys
import textwrap
import threading
from typing import Any

import pytest

import rewardloop as rl


def rows(count: int) -> list[dict[str, Any]]:
    return [{"item_id": f"i{k}", "response": f"the answer is {k}", "ground_truth": str(k)} for k in range(count)]


def test_a_closure_scores_and_is_named_and_versioned() -> None:
    bias = 0.5
    report = rl.score(rows(5), scorer=lambda item: float(item["ground_truth"]) + bias)
    assert list(report.scores) == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert report.results[0].scorer.startswith("inline:") and report.results[0].scorer.endswith("<lambda>")
    assert report.results[0].scorer_version.startswith("1+")


def test_a_bound_method_and_a_callable_object() -> None:
    class Judge:
        def __init__(self, weight: float) -> None:
            self.weight = weight

        def score(self, solution_str: str, ground_truth: str) -> dict[str, Any]:
            return {"score": self.weight * (ground_truth in solution_str), "weight": self.weight}

        def __call__(self, item: dict[str, Any]) -> tuple[float, dict[str, Any]]:
            return self.weight, {"id": item["item_id"]}

    bound = rl.score(rows(2), scorer=Judge(2).score)
    assert list(bound.scores) == [2, 2] and bound.results[0].extra == {"weight": 2}
    called = rl.score(rows(2), scorer=Judge(3))
    assert list(called.scores) == [3, 3] and called.results[1].extra == {"id": "i1"}


def test_async_closures_wait_together_on_one_thread() -> None:
    threads = set()
    most, running = 0, 0

    async def judge(item: dict[str, Any]) -> float:
        nonlocal most, running
        threads.add(threading.get_ident())
        running += 1
        most = max(most, running)
        while running < 20:  # ends only when all 20 run at once
            await asyncio.sleep(0)
        return 1.0

    with rl.AsyncRewardPipeline(scorer=judge, timeout=30) as pipeline:
        handles = [pipeline.submit([row]) for row in rows(20)]
        assert [pipeline.collect(handle)[0].score for handle in handles] == [1.0] * 20
    assert most == 20 and len(threads) == 1 and threading.get_ident() not in threads


def test_blocking_closures_run_on_as_many_threads_as_asked() -> None:
    barrier = threading.Barrier(3, timeout=30)

    def judge(item: dict[str, Any]) -> float:
        return float(barrier.wait() >= 0)

    assert list(rl.score(rows(6), scorer=judge, threads_per_worker=3, timeout=60).scores) == [1.0] * 6


def test_scorer_args_reach_an_inline_function() -> None:
    def judge(item: dict[str, Any], weight: float = 1.0) -> float:
        return weight

    assert list(rl.score(rows(1), scorer=judge, scorer_args={"weight": 4}).scores) == [4]
    with pytest.raises(rl.ArgumentError, match="no argument 'wieght'.*did you mean 'weight'"):
        rl.score(rows(1), scorer=judge, scorer_args={"wieght": 4})


def test_arguments_that_cannot_be_are_refused() -> None:
    def judge(item: dict[str, Any], weight: float = 1.0) -> float:
        return weight

    sources: dict[str, Any] = {"": {"scorer": judge, "arg": {"weight": 2}}}
    with pytest.raises(rl.ArgumentError, match="unknown key 'arg'.*did you mean 'args'"):
        rl.score(rows(1), data_sources=sources)
    for wrong in ("weight", [1]):
        with pytest.raises(rl.ArgumentError, match="must be a dict"):
            rl.score(rows(1), scorer=judge, scorer_args=wrong)  # type: ignore[arg-type]
    with pytest.raises(rl.ArgumentError, match="'threads_per_worker' must be an integer"):
        rl.score(rows(1), scorer=judge, threads_per_worker="two")  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "status", "error_class"), [
    (None, "error", "no_score"), ("1.0", "error", "bad_return"), ({"acc": 1}, "error", "bad_return"),
    (float("nan"), "error", "non_finite"), (float("inf"), "error", "non_finite"), ((1.0, 2.0), "error", "bad_return"),
])
def test_no_wrong_return_yields_a_score(value: Any, status: str, error_class: str) -> None:
    result = rl.score(rows(1), scorer=lambda item: value, on_error="null").results[0]
    assert (result.status, result.score) == (status, None)
    assert result.error is not None and result.error.class_ == error_class


@pytest.mark.parametrize("raised", [ValueError("bad"), SystemExit(3), KeyboardInterrupt(), StopIteration(), GeneratorExit()])
def test_what_a_function_raises_ends_its_item_only(raised: BaseException) -> None:
    def judge(item: dict[str, Any]) -> float:
        if item["item_id"] == "i1":
            raise raised
        return 1.0

    report = rl.score(rows(3), scorer=judge, on_error="null")
    assert [result.status for result in report.results] == ["scored", "error", "scored"]
    error = report.results[1].error
    assert error is not None and error.class_ == "exception" and type(raised).__name__ in error.message
    assert "test_inline.py" in error.message


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt()])
def test_what_a_task_of_a_coroutine_raises_leaves_the_loop_running(raised: BaseException) -> None:
    async def leave() -> float:
        raise raised

    async def judge(item: dict[str, Any]) -> float:
        return await asyncio.gather(leave()) if item["item_id"] == "i1" else 1.0

    report = rl.score(rows(3), scorer=judge, on_error="null", timeout=60)
    assert [result.status for result in report.results] == ["scored", "error", "scored"]
    error = report.results[1].error
    assert error is not None and error.class_ == "exception" and type(raised).__name__ in error.message


def test_a_log_that_cannot_be_written_ends_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space left on device")

    def judge(item: dict[str, Any]) -> float:
        raise ValueError("bad")

    monkeypatch.setattr(sys, "stderr", Broken())
    monkeypatch.setattr(logging.getLogger("rewardloop.output"), "propagate", False)
    monkeypatch.setattr(logging.root, "handlers", [])  # pytest's take the text otherwise
    report = rl.score(rows(10), scorer=judge, on_error="null", timeout=60)
    assert report.status_counts == {"error": 10}


@pytest.mark.parametrize("form", ["sync", "async"])
def test_errors_show_the_frames_of_the_users_code_only(form: str, caplog: pytest.LogCaptureFixture) -> None:
    def judge(item: dict[str, Any]) -> float:
        raise ValueError("bad")

    async def later(item: dict[str, Any]) -> float:
        return judge(item)

    with caplog.at_level(logging.INFO, "rewardloop.output"):
        report = rl.score(rows(1), scorer=judge if form == "sync" else later, on_error="null")
    error = report.results[0].error
    assert error is not None and "in judge" in error.message and "rewardloop/_" not in error.message
    said = [record.getMessage() for record in caplog.records if record.name == "rewardloop.output"]
    assert len(said) == 1 and "in judge" in said[0] and "rewardloop/_" not in said[0]


def test_a_traceback_in_the_log_is_bounded(caplog: pytest.LogCaptureFixture) -> None:
    def judge(item: dict[str, Any]) -> float:
        raise ValueError("x" * 10**6)

    with caplog.at_level(logging.INFO, "rewardloop.output"):
        rl.score(rows(1), scorer=judge, on_error="null")
    assert [len(record.getMessage()) < 10_000 for record in caplog.records if record.name == "rewardloop.output"] == [True]


def test_a_hanging_function_times_out_and_its_threads_count_as_lost() -> None:
    release = threading.Event()

    def judge(item: dict[str, Any]) -> float:
        if item["ground_truth"] == "hang":
            release.wait(60)
        return 1.0

    hanging = [{**row, "ground_truth": "hang"} for row in rows(2)]
    with rl.AsyncRewardPipeline(scorer=judge, threads_per_worker=2, timeout=0.2, on_error="null") as pipeline:
        late = pipeline.collect(pipeline.submit(hanging))
        assert [result.status for result in late] == ["timeout", "timeout"]
        calls = pipeline._core.inline_calls("inline:" + judge.__qualname__)
        assert calls.lost == 2
        refused = pipeline.collect(pipeline.submit(rows(1)))[0]
        assert refused.status == "rejected" and refused.error is not None and refused.error.class_ == "no_thread"
        release.set()
        # Both threads come back and take calls again.
        for _ in range(600):
            if calls.lost == 0:
                break
            threading.Event().wait(0.05)
        assert pipeline.collect(pipeline.submit(rows(1)))[0].score == 1.0


def test_a_late_coroutine_is_cancelled() -> None:
    cancelled = threading.Event()

    async def judge(item: dict[str, Any]) -> float:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return 1.0

    report = rl.score(rows(1), scorer=judge, timeout=0.1, on_error="null")
    assert report.results[0].status == "timeout"
    assert cancelled.wait(30)


def test_inline_is_said_once_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "rewardloop"):
        rl.score(rows(3), scorer=lambda item: 1.0)
    assert sum("runs in this process" in record.message for record in caplog.records) == 1


def test_functions_by_data_source_and_by_registered_name() -> None:
    @rl.scorer("test-inline-length")
    def length(item: dict[str, Any]) -> int:
        return len(item["response"])

    items = [{**row, "data_source": "a" if k % 2 else "b"} for k, row in enumerate(rows(4))]
    report = rl.score(items, data_sources={"a": "test-inline-length", "b": lambda item: 0.0})
    assert list(report.scores) == [0, 15, 0, 15]
    with pytest.raises(rl.ArgumentError, match="registered already"):
        rl.scorer("test-inline-length")(lambda item: 1.0)


def test_the_pipeline_works_from_a_running_event_loop_and_several_loops() -> None:
    async def judge(item: dict[str, Any]) -> float:
        await asyncio.sleep(0)
        return 2.0

    async def main(pipeline: rl.aio.AsyncRewardPipeline) -> list[float | None]:
        handle = await pipeline.submit(rows(3))
        return [result.score for result in await pipeline.collect(handle)]

    pipeline = rl.aio.AsyncRewardPipeline(scorer=judge)
    found: list[list[float | None]] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(main(pipeline)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(pipeline.close("cancel"))
    assert found == [[2.0, 2.0, 2.0]] * 3


def run_script(text: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **env}, check=False)


def test_functions_of_main_run_inline_and_the_process_ends_cleanly() -> None:
    done = run_script("""
        import rewardloop as rl
        def judge(item):
            return 1.0
        async def judge_async(item):
            return 2.0
        print(rl.score([{"response": "x"}], scorer=judge).results[0].scorer)
        pipeline = rl.AsyncRewardPipeline(scorer=judge_async)  # left open on purpose
        print(pipeline.collect(pipeline.submit([{"response": "x"}]))[0].score)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "inline:judge\n2.0\n", "")


def test_a_hanging_thread_does_not_keep_the_interpreter_from_ending() -> None:
    done = run_script("""
        import threading
        import rewardloop as rl
        def judge(item):
            threading.Event().wait()
        report = rl.score([{"response": "x"}], scorer=judge, timeout=0.1, on_error="null")
        print(report.results[0].status)
    """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "timeout\n", "")


def test_a_forked_child_cannot_use_the_pipeline_but_can_verify() -> None:
    done = run_script("""
        import os, sys
        import rewardloop as rl
        pipeline = rl.AsyncRewardPipeline(scorer=lambda item: 1.0)
        pid = os.fork()
        if pid == 0:
            try:
                pipeline.submit([{"response": "x"}])
            except rl.ForkedError as error:
                ok = "fork" in str(error) and rl.verify("1/2", "0.5").score == 1.0
                os._exit(0 if ok else 1)
            os._exit(2)
        child = os.waitpid(pid, 0)[1]
        print(child, pipeline.collect(pipeline.submit([{"response": "x"}]))[0].score)
    """)
    assert (done.returncode, done.stdout) == (0, "0 1.0\n"), done.stderr
