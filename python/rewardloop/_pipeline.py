"""The pipeline for threads. Its asyncio twin is aio.py."""

from __future__ import annotations

import atexit
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from . import _log
from ._core import BatchHandle, Engine, RewardResult, _Pipeline
from ._errors import RewardError
from ._inline import join_all
from ._options import checked_options
from ._results import Group, Results
from ._types import PipelineOptions
from ._user_code import open_pipeline

if TYPE_CHECKING:
    from typing import Self, Unpack

# What the interpreter's exit may take in all.
_EXIT_SECONDS = 2.0
_open_pipelines: weakref.WeakSet[PipelineBase] = weakref.WeakSet()


class PipelineBase:
    """What the two pipelines have in common: no call here waits."""

    _core: _Pipeline

    def __init__(self, engine: Engine | None, options: Mapping[str, Any]) -> None:
        self._core = open_pipeline(checked_options(options), engine)
        self._errors = _log.ErrorLog()
        _open_pipelines.add(self)

    @property
    def config(self) -> dict[str, Any]:
        """Every option with its value; ``type(p)(**p.config)`` makes another pipeline like this."""
        return self._core.config

    @property
    def engine(self) -> Engine:
        return self._core.engine

    @property
    def backlog_items(self) -> int:
        """Items that were accepted and have no result."""
        return self._core.backlog_items

    @property
    def backlog_bytes(self) -> int:
        return self._core.backlog_bytes

    @property
    def uncollected_items(self) -> int:
        """Items that ended and that nobody has collected."""
        return self._core.uncollected_items

    def ready(self, handle: BatchHandle) -> bool:
        """True when ``collect(handle)`` would not wait."""
        return self._core.ready(handle)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} owns threads and cannot be pickled: pickle its .config, a dict, and make a "
            f"pipeline from it where it is used"
        )

    def __repr__(self) -> str:
        config = self._core.config
        return f"{type(self).__name__}(scorer={config['scorer']!r}, manager={config['manager']!r})"


def deliver(delivered: list[RewardResult] | tuple[list[RewardResult], str | None], errors: _log.ErrorLog) -> Results:
    """Results of a collect; raises under ``on_error="raise"`` when rows have no score."""
    if isinstance(delivered, Results):
        return delivered
    assert isinstance(delivered, tuple)
    results, message = delivered
    assert isinstance(results, Results)
    if message is not None:
        raise RewardError(message, results)
    errors.note(results)
    return results


class AsyncRewardPipeline(PipelineBase):
    """Samples go in as they finish, rewards come out in input order, groups as they complete.

    Every method may be called from any thread, inside a running event loop too. Waiting never holds the
    GIL, and Ctrl-C ends it within 100 ms; the pipeline stays usable. ``with`` closes by cancelling.

    Parameters
    ----------
    engine
        Whose threads and limits to use; by default all pipelines of a process share one.
    **options
        The keys of the configuration file: ``scorer``, ``manager``, ``timeout``, ``on_error`` and so on
        (:class:`PipelineOptions`).
    """

    def __init__(self, *, engine: Engine | None = None, **options: Unpack[PipelineOptions]) -> None:
        super().__init__(engine, options)

    def submit(self, items: Iterable[Mapping[str, Any]], *, step: int = 0) -> BatchHandle:
        """Accepts items and returns their handle; waits only for room in a full backlog (``overflow="block"``).

        Keep the handle: items whose handle is dropped are cancelled, but for members of groups, which
        ``collect_groups`` still delivers.
        """
        return self._core.submit(items, step)

    def collect(self, handle: BatchHandle, timeout: float | None = None) -> Results:
        """Waits until all items of ``handle`` ended; their results in input order, once.

        Raises
        ------
        TimeoutError
            After ``timeout`` seconds. The handle stays valid.
        RewardError
            Rows without a score under ``on_error="raise"``; ``err.results`` has all results.
        """
        delivered = self._core.collect(handle, timeout)
        return delivered if isinstance(delivered, Results) else deliver(delivered, self._errors)

    def stream(self, handle: BatchHandle, timeout: float | None = None) -> Iterator[RewardResult]:
        """Results of ``handle`` as they end. ``timeout`` is for each one. Takes the place of collect."""
        while (result := self._core.next(handle, timeout)) is not None:
            yield result

    def collect_groups(self, timeout: float | None = None, *, step: int = 0) -> Iterator[Group]:
        """Groups as they complete; ends when no more can come. ``timeout`` is for each one."""
        while (group := self._core.next_group(step, timeout)) is not None:
            yield Group(group)

    def step(self) -> Step:
        """Begins a training step: its sampling starts now. Steps may overlap."""
        return Step(self)

    def close_group(self, group_id: str | int, *, step: int = 0) -> None:
        """No more members of this group will come (``grouping="explicit"``)."""
        self._core.close_group(group_id, step)

    def cancel(self, handle: BatchHandle) -> None:
        """Ends the items of ``handle`` that have no result as ``cancelled``; the handle can be collected."""
        self._core.cancel(handle)

    def close(self, mode: Literal["drain", "cancel"] = "drain", timeout: float | None = None) -> None:
        """No more submits: waits for all accepted items, or cancels them. Results stay collectable."""
        try:
            self._core.close(mode, timeout)
        finally:
            _log.deliver()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close("cancel")


class Step:
    """A training step of a pipeline. ``with`` ends it; its groups can be collected afterwards too."""

    __slots__ = ("id", "pipeline")

    def __init__(self, pipeline: AsyncRewardPipeline) -> None:
        self.pipeline = pipeline
        self.id: int = pipeline._core.begin_step()

    def submit(self, items: Iterable[Mapping[str, Any]]) -> BatchHandle:
        return self.pipeline.submit(items, step=self.id)

    def collect_groups(self, timeout: float | None = None) -> Iterator[Group]:
        return self.pipeline.collect_groups(timeout, step=self.id)

    def close_group(self, group_id: str | int) -> None:
        self.pipeline.close_group(group_id, step=self.id)

    def sampling_done(self) -> None:
        """The last sample of this step was submitted."""
        self.pipeline._core.sampling_done(self.id)

    def end(self) -> None:
        """Closes the groups that are still open as they are."""
        self.pipeline._core.end_step(self.id)

    def metrics(self) -> dict[str, Any]:
        """Head start, tail and overlap in seconds; None where a mark is missing."""
        return self.pipeline._core.step_metrics(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.end()


def _close_open_pipelines() -> None:
    deadline = time.monotonic() + _EXIT_SECONDS
    for pipeline in list(_open_pipelines):
        if not pipeline._core.alive:
            continue
        try:
            pipeline._core.close("cancel", max(0.0, deadline - time.monotonic()))
        except Exception:  # a call that ignores its cancellation ends with the process
            pass
    join_all(max(0.0, min(0.2, deadline - time.monotonic())))
    _log.stop()


atexit.register(_close_open_pipelines)
