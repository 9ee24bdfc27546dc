"""After a fork the child's engine is dead and says so; what needs no engine still works."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable

import pytest
from conftest import items

import rewardloop as rl


def in_child(check: Callable[[], None]) -> None:
    """Runs ``check`` in a forked child; its failure is this test's."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork of a process with threads is the point
        child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            check()
            report = b""
        except BaseException:
            report = traceback.format_exc().encode()
        os.write(writer, report)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        report = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0 and not report, report.decode()


def test_every_call_in_the_child_names_fork(pipeline: rl.AsyncRewardPipeline) -> None:
    handle = pipeline.submit(items(3))
    pipeline.collect(handle)
    kept = pipeline.submit(items(3))
    step = pipeline.step()
    calls: list[Callable[[], object]] = [
        lambda: pipeline.submit(items(1)),
        lambda: pipeline.collect(kept),
        lambda: next(pipeline.stream(kept)),
        lambda: next(pipeline.collect_groups()),
        lambda: pipeline.ready(kept),
        lambda: pipeline.cancel(kept),
        lambda: pipeline.close("cancel"),
        lambda: pipeline.step(),
        lambda: step.sampling_done(),
        lambda: step.metrics(),
        lambda: pipeline.backlog_items,
        lambda: pipeline.engine,
        lambda: rl.default_engine(),
        lambda: rl.AsyncRewardPipeline(scorer="gsm8k"),
        lambda: rl.score(items(1), scorer="gsm8k"),
    ]

    def check() -> None:
        for call in calls:
            with pytest.raises(rl.ForkedError, match="fork"):
                call()
        with pytest.raises(RuntimeError, match="spawn"):
            pipeline.submit(items(1))

    in_child(check)
    assert len(pipeline.collect(kept)) == 3  # the parent goes on


def test_what_needs_no_engine_works_in_the_child(pipeline: rl.AsyncRewardPipeline) -> None:
    pipeline.collect(pipeline.submit(items(100)))

    def check() -> None:
        assert rl.verify("1/2", r"\boxed{0.5}").score == 1.0
        assert rl.verify_batch(["1"] * 300, [r"\boxed{1}"] * 300, threads=2).scores.sum() == 300
        assert rl.math.extract(r"\boxed{7}").text == "7"
        scorer = rl.Scorer("gsm8k")
        assert scorer.score_batch(items(300), threads=2).scores.sum() == 300
        assert repr(pipeline)

    in_child(check)


def test_objects_of_the_parent_die_quietly_in_the_child() -> None:
    owned: list[object] = [rl.Engine(threads=2)]
    made = rl.AsyncRewardPipeline(scorer="gsm8k", engine=owned[0])  # type: ignore[arg-type]
    owned += [made, made.submit(items(5))]
    del made

    def check() -> None:
        owned.clear()

    in_child(check)
    owned.clear()


def test_an_engine_made_in_the_child_works_there(pipeline: rl.AsyncRewardPipeline) -> None:
    pipeline.collect(pipeline.submit(items(1)))

    def check() -> None:
        with rl.AsyncRewardPipeline(scorer="gsm8k", engine=rl.Engine(threads=1)) as own:
            assert own.collect(own.submit(items(10)), timeout=30).scores.sum() == 10

    in_child(check)
