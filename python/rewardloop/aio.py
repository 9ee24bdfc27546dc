"""The pipeline for asyncio: the same names as :class:`rewardloop.AsyncRewardPipeline`, awaitable.

Each event loop has one eventfd; engine threads write to it once per burst, and the loop then asks for everything
that became ready. One pipeline may be used from several loops in several threads.
"""

from __future__ import annotations

import asyncio
import itertools
import time
import weakref
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _log
from ._core import BatchHandle, Engine, RewardResult, _Wakeup
from ._errors import ArgumentError, CollectTimeoutError
from ._pipeline import PipelineBase, deliver
from ._results import Group, Results
from ._types import PipelineOptions

if TYPE_CHECKING:
    from typing import Self, Unpack

__all__ = ["AsyncRewardPipeline", "Step"]

# How long a thread that waits for close may outlive a cancelled task.
_CLOSE_SLICE_SECONDS = 0.1
_Arm = Callable[[_Wakeup, int], None]


class _LoopHub:
    """What one event loop waits for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.wakeup = _Wakeup()
        self._tokens = itertools.count()
        self._waiting: dict[int, set[asyncio.Future[None]]] = {}
        # By pipeline: a submit that waits for room takes a thread, so one does at a time, in the order that they came.
        self.turns: weakref.WeakKeyDictionary[AsyncRewardPipeline, asyncio.Lock] = weakref.WeakKeyDictionary()
        # One registration with C++ per thing, however often a wait for it begins and is given up.
        self._armed: dict[Any, int] = {}
        self._keys: dict[int, Any] = {}
        loop.add_reader(self.wakeup.fileno(), self._drain)

    def _drain(self) -> None:
        for token in self.wakeup.drain():
            self._armed.pop(self._keys.pop(token, None), None)
            for future in self._waiting.pop(token, ()):
                if not future.done():
                    future.set_result(None)

    def next_token(self) -> int:
        return next(self._tokens)

    async def wait(self, key: Any, arm: _Arm) -> None:
        """Waits until C++ notifies the token that ``arm`` gives it."""
        token = self._armed.get(key)
        if token is None:
            token = self.next_token()
            self._armed[key], self._keys[token] = token, key
            arm(self.wakeup, token)
        await self.wait_token(token)

    async def wait_token(self, token: int) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(token, set()).add(future)
        try:
            await future
        finally:
            if futures := self._waiting.get(token):
                futures.discard(future)


_hubs: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopHub] = weakref.WeakKeyDictionary()


def _hub() -> _LoopHub:
    loop = asyncio.get_running_loop()
    hub = _hubs.get(loop)
    if hub is None:
        hub = _hubs[loop] = _LoopHub(loop)
    return hub


def _check_timeout(seconds: float | None) -> None:
    if seconds is not None and not seconds >= 0:
        raise ArgumentError("timeout must be seconds >= 0 or None")


class _Done:
    """Awaitable of something that has been done already."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        return
        yield


_pipeline_ids = itertools.count()


class AsyncRewardPipeline(PipelineBase):
    """Samples go in as they finish, rewards come out in input order, groups as they complete.

    Arguments and results are those of :class:`rewardloop.AsyncRewardPipeline`. Cancelling a task that awaits
    cancels the wait only; ``cancel(handle)`` cancels the items. ``async with`` closes by cancelling.
    """

    def __init__(self, *, engine: Engine | None = None, **options: Unpack[PipelineOptions]) -> None:
        super().__init__(engine, options)
        self._id = next(_pipeline_ids)

    async def submit(self, items: Iterable[Mapping[str, Any]], *, step: int = 0) -> BatchHandle:
        """Accepts items; waits only for room in a full backlog. A cancelled wait withdraws the items."""
        hub = _hub()
        async with hub.turns.get(self) or hub.turns.setdefault(self, asyncio.Lock()):
            token = hub.next_token()
            pending = self._core.begin_submit(items, step, hub.wakeup, token)
            if isinstance(pending, BatchHandle):
                return pending
            try:
                await hub.wait_token(token)
            except asyncio.CancelledError:
                pending.withdraw()
                raise
            return pending.take()

    async def collect(self, handle: BatchHandle, timeout: float | None = None) -> Results:
        """Waits until all items of ``handle`` ended; their results in input order, once."""
        _check_timeout(timeout)
        if not self._core.ready(handle):
            await self._wait(("ready", handle.submit), lambda w, t: self._core.when_ready(handle, w, t), timeout)
        return deliver(self._core.collect(handle, 0.0), self._errors)

    async def stream(self, handle: BatchHandle, timeout: float | None = None) -> AsyncIterator[RewardResult]:
        """Results of ``handle`` as they end. ``timeout`` is for each one. Takes the place of collect."""
        _check_timeout(timeout)
        key = ("next", handle.submit)
        while True:
            try:
                result = self._core.next(handle, 0.0)
            except CollectTimeoutError:
                if not await self._wait(key, lambda w, t: self._core.when_next(handle, w, t), timeout):
                    raise
                continue
            if result is None:
                return
            yield result

    async def collect_groups(self, timeout: float | None = None, *, step: int = 0) -> AsyncIterator[Group]:
        """Groups as they complete; ends when no more can come. ``timeout`` is for each one."""
        _check_timeout(timeout)
        while True:
            try:
                group = self._core.next_group(step, 0.0)
            except CollectTimeoutError:
                if not await self._wait(("group", step), lambda w, t: self._core.when_group(step, w, t), timeout):
                    raise
                continue
            if group is None:
                return
            yield Group(group)

    def step(self) -> Step:
        """Begins a training step: its sampling starts now. Steps may overlap."""
        return Step(self)

    def close_group(self, group_id: str | int, *, step: int = 0) -> _Done:
        """No more members of this group will come. Done when it returns; may be awaited."""
        self._core.close_group(group_id, step)
        return _Done()

    def cancel(self, handle: BatchHandle) -> _Done:
        """Ends the items of ``handle`` as ``cancelled``. Done when it returns; may be awaited."""
        self._core.cancel(handle)
        return _Done()

    async def close(self, mode: Literal["drain", "cancel"] = "drain", timeout: float | None = None) -> None:
        """No more submits: waits for all accepted items, or cancels them. Results stay collectable."""
        _check_timeout(timeout)
        try:
            await self._close(mode, timeout)
        finally:
            _log.deliver()

    async def _close(self, mode: Literal["drain", "cancel"], timeout: float | None) -> None:
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            return self._core.close(mode, 0.0)
        except CollectTimeoutError:
            pass
        while True:
            left = _CLOSE_SLICE_SECONDS if deadline is None else deadline - time.monotonic()
            try:
                return await asyncio.to_thread(self._core.close, mode, max(0.0, min(left, _CLOSE_SLICE_SECONDS)))
            except CollectTimeoutError:
                if left <= _CLOSE_SLICE_SECONDS and deadline is not None:
                    raise

    async def _wait(self, key: tuple[str, int], arm: _Arm, timeout: float | None) -> bool:
        """False when ``timeout`` seconds passed first."""
        hub = _hub()
        if timeout is None:
            await hub.wait((self._id, *key), arm)
            return True
        try:
            async with asyncio.timeout(timeout):
                await hub.wait((self._id, *key), arm)
        except TimeoutError:
            return False
        return True

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        traceback: TracebackType | None) -> None:
        await self.close("cancel")


class Step:
    """A training step of a pipeline. ``async with`` ends it; its groups can be collected afterwards too."""

    __slots__ = ("id", "pipeline")

    def __init__(self, pipeline: AsyncRewardPipeline) -> None:
        self.pipeline = pipeline
        self.id: int = pipeline._core.begin_step()

    async def submit(self, items: Iterable[Mapping[str, Any]]) -> BatchHandle:
        return await self.pipeline.submit(items, step=self.id)

    def collect_groups(self, timeout: float | None = None) -> AsyncIterator[Group]:
        return self.pipeline.collect_groups(timeout, step=self.id)

    def close_group(self, group_id: str | int) -> _Done:
        return self.pipeline.close_group(group_id, step=self.id)

    def sampling_done(self) -> _Done:
        """The last sample of this step was submitted. Done when it returns; may be awaited."""
        self.pipeline._core.sampling_done(self.id)
        return _Done()

    def end(self) -> _Done:
        """Closes the groups that are still open as they are. Done when it returns; may be awaited."""
        self.pipeline._core.end_step(self.id)
        return _Done()

    def metrics(self) -> dict[str, Any]:
        """Head start, tail and overlap in seconds; None where a mark is missing."""
        return self.pipeline._core.step_metrics(self.id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        traceback: TracebackType | None) -> None:
        self.end()
