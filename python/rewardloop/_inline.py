"""User code that runs in this process: closures, bound objects, functions of a notebook, managers.

Engine threads never take the GIL: threads of Python's fetch calls from C++ and complete them.
"""

from __future__ import annotations

import inspect
import json
import threading
import time
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from ._calls import Item, UserFunction, bad_return, decode, encode, exception_verdict, make_item, traceback_text
from ._core import _InlineCalls
from ._log import emit_output
from ._manager import RewardManager, overridden, verdict_from, verdicts_by_id

if TYPE_CHECKING:
    import asyncio  # at run time only those who use it pay for it

# Calls that the event loop's thread fetches at once.
_MOST = 64
# Characters of one traceback in the log.
_MAX_TRACEBACK = 8192
_runners: weakref.WeakSet[Runner] = weakref.WeakSet()


class Code(Protocol):
    """What is called. ``invoke`` may return an awaitable; ``reply`` makes bytes of what it returned."""

    name: str
    is_async: bool

    def arguments(self, body: bytes) -> Any: ...
    def invoke(self, arguments: Any) -> Any: ...
    def reply(self, value: Any, arguments: Any, count: int) -> bytes: ...


class FunctionCode:
    """A scorer."""

    def __init__(self, function: UserFunction) -> None:
        self.function = function
        self.name = function.name
        self.is_async = function.is_async

    def arguments(self, body: bytes) -> list[Item]:
        return [make_item(item) for item in decode(body)]

    def invoke(self, arguments: list[Item]) -> Any:
        return self.function.call(arguments)

    def reply(self, value: Any, arguments: list[Item], count: int) -> bytes:
        return self.function.reply(value, count)


class ManagerCode:
    """A manager."""

    def __init__(self, manager: RewardManager, name: str) -> None:
        self.name = name
        method, self.granularity = overridden(manager)
        self.method = getattr(manager, method)
        self.is_async = inspect.iscoroutinefunction(self.method)
        self.with_verdicts = len(inspect.signature(self.method).parameters) > 1

    def arguments(self, body: bytes) -> tuple[Any, ...]:
        payload = decode(body)
        items = [make_item(item) for item in payload["items"]]
        verdicts = payload["verdicts"] or []
        if self.granularity == "item":
            return (items[0], verdicts[0]) if self.with_verdicts else (items[0],)
        by_id = {item["item_id"]: item for item in items}
        if len(by_id) != len(items):
            raise ValueError("two items of this group have the same item_id, in different submits")
        if not self.with_verdicts:
            return (by_id,)
        return by_id, dict(zip(by_id, verdicts, strict=True))

    def invoke(self, arguments: tuple[Any, ...]) -> Any:
        return self.method(*arguments)

    def reply(self, value: Any, arguments: tuple[Any, ...], count: int) -> bytes:
        if self.granularity == "item":
            return encode([verdict_from(value, self.name)], self.name)
        return encode(verdicts_by_id(value, arguments[0], self.name), self.name)


class Runner:
    """The threads that run the calls of one pipeline's scorer or manager. They end when it is closed."""

    def __init__(self, code: Code, threads: int) -> None:
        self.code = code
        self.count = 1 if code.is_async else threads
        self.threads: list[threading.Thread] = []
        self._raised: Counter[str] = Counter()

    def start(self, calls: _InlineCalls) -> None:
        target = self._fetch_for_loop if self.code.is_async else self._work
        for i in range(self.count):
            thread = threading.Thread(target=target, args=(calls,), name=f"rewardloop-inline-{i}", daemon=True)
            self.threads.append(thread)
            thread.start()
        _runners.add(self)

    def join(self, deadline: float) -> None:
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    def _failed(self, error: BaseException, body: bytes, count: int) -> bytes:
        kind = type(error).__name__
        self._raised[kind] += 1
        seen = self._raised[kind]
        if seen == 10 ** (len(str(seen)) - 1):  # the 1st, 10th, 100th ...
            text = traceback_text(error)[:_MAX_TRACEBACK].rstrip()
            emit_output(f"[{_first_id(body)}] '{self.code.name}' raised, {seen} so far:\n{text}")
        return encode([exception_verdict(error)] * count, self.code.name)

    def _work(self, calls: _InlineCalls) -> None:
        while (works := calls.fetch(1)) is not None:
            for call, _, body, count in works:
                calls.complete(call, self._run(body, count))

    def _run(self, body: bytes, count: int) -> bytes:
        try:
            arguments = self.code.arguments(body)
            value = self.code.invoke(arguments)
            if inspect.isawaitable(value):
                import asyncio

                value = asyncio.run(_awaited(value))
            return self.code.reply(value, arguments, count)
        except BaseException as error:
            return self._failed(error, body, count)

    def _fetch_for_loop(self, calls: _InlineCalls) -> None:
        import asyncio

        loop = asyncio.new_event_loop()
        ended = threading.Event()
        thread = threading.Thread(target=self._run_loop, args=(loop, ended), name="rewardloop-loop", daemon=True)
        thread.start()
        tasks: dict[int, asyncio.Task[None]] = {}
        while (works := calls.fetch(_MOST)) is not None:
            loop.call_soon_threadsafe(self._begin, loop, calls, tasks, works)

        def end() -> None:
            ended.set()
            loop.stop()

        loop.call_soon_threadsafe(end)
        thread.join()

    @staticmethod
    def _run_loop(loop: asyncio.AbstractEventLoop, ended: threading.Event) -> None:
        import asyncio

        asyncio.set_event_loop(loop)
        while not ended.is_set():
            try:
                loop.run_forever()
            except (SystemExit, KeyboardInterrupt):  # of a task that a function made; who awaits it gets it too
                continue
        pending = asyncio.all_tasks(loop)
        for task in pending:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        loop.close()

    def _begin(self, loop: asyncio.AbstractEventLoop, calls: _InlineCalls, tasks: dict[int, asyncio.Task[None]],
               works: list[tuple[int, bool, bytes, int]]) -> None:
        for call, cancel, body, count in works:
            if not cancel:
                tasks[call] = loop.create_task(self._run_async(calls, tasks, call, body, count))
            elif call in tasks:
                tasks[call].cancel()

    async def _run_async(self, calls: _InlineCalls, tasks: dict[int, asyncio.Task[None]], call: int, body: bytes,
                         count: int) -> None:
        import asyncio

        try:
            arguments = self.code.arguments(body)
            reply = self.code.reply(await self.code.invoke(arguments), arguments, count)
        except asyncio.CancelledError:
            reply = encode([bad_return(f"'{self.code.name}' was cancelled", "exception")] * count, self.code.name)
        except BaseException as error:
            reply = self._failed(error, body, count)
        finally:
            tasks.pop(call, None)
        calls.complete(call, reply)


def _first_id(body: bytes) -> str:
    payload = json.loads(body)
    items = payload["items"] if isinstance(payload, dict) else payload
    return str(items[0]["item_id"])


async def _awaited(value: Any) -> Any:
    return await value


def join_all(seconds: float) -> None:
    """Waits for the threads of closed pipelines, ``seconds`` in all, for the interpreter's exit."""
    deadline = time.monotonic() + seconds
    for runner in list(_runners):
        runner.join(deadline)
