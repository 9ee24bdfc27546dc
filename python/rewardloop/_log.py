"""What the package says through the logger `rewardloop`."""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
from collections import Counter

from ._core import _LogQueue
from ._results import Results

logger = logging.getLogger("rewardloop")
#: What user functions print and raise in worker processes, with the item's id in front.
output_logger = logging.getLogger("rewardloop.output")
_OUTPUT_LEVEL = 50  # as C++ numbers it: not the engine's

# How long a caller waits for a handler that is at work already, and the exit for the listener.
_PATIENCE_SECONDS = 1.0


def emit_output(text: str) -> None:
    """What user code says: to its logger or, as a print would be, to stderr where no handler takes it."""
    if output_logger.disabled:
        return
    handled = any(not isinstance(h, logging.NullHandler) for h in (*output_logger.handlers, *logger.handlers, *logging.root.handlers))
    try:
        if handled and output_logger.isEnabledFor(logging.INFO):
            output_logger.info("%s", text)
        elif sys.stderr is not None:
            print(text, file=sys.stderr)
    except Exception:  # a handler that raises or a closed stderr must not end the thread that runs user code
        pass


class _Listener:
    """Hands the engines' log to the logger, on a thread of Python's: engine threads never take the GIL."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._queue = _LogQueue()
        self._lock = threading.Lock()  # one at a time, so that records keep their order
        self._thread = threading.Thread(target=self._run, name="rewardloop-log", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._queue.fileno(), select.POLLIN)
        stopped = False
        while not stopped:
            poll.poll()
            stopped = self._queue.stopped  # asked first: what came before the stop is taken in this turn
            with self._lock:
                self._emit()

    def _emit(self) -> None:
        for level, text in self._queue.drain():
            try:
                if level == _OUTPUT_LEVEL:
                    emit_output(text)
                else:
                    logger.log(level, "%s", text)
            except Exception:  # a handler that raises must not silence the engine
                continue

    def deliver(self) -> None:
        # A handler that itself closes a pipeline runs on the listener's thread, with the lock held.
        if threading.current_thread() is self._thread or not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            return
        try:
            self._emit()
        finally:
            self._lock.release()

    def stop(self) -> None:
        self._queue.stop()
        self._thread.join(_PATIENCE_SECONDS)


_listener: _Listener | None = None


def listen() -> None:
    """Starts to hand over what engines say; once per process."""
    global _listener
    if _listener is None or _listener.pid != os.getpid():
        _listener = _Listener()


def deliver() -> None:
    """Hands over at once what engines have said so far."""
    if _listener is not None and _listener.pid == os.getpid():
        _listener.deliver()


def stop() -> None:
    """Ends the listener, for the interpreter's exit."""
    if _listener is not None and _listener.pid == os.getpid():
        _listener.stop()


class ErrorLog:
    """Says that items have no score, at the 1st, 10th, 100th ... of each kind."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def note(self, results: Results) -> None:
        for result in results:
            if result.error is None or result.error.class_ == "no_scorer":  # of that the engine speaks
                continue
            kind = result.status, result.error.class_
            self._counts[kind] += 1
            count = self._counts[kind]
            if count == 10 ** (len(str(count)) - 1):
                logger.warning("%s(%s), %d so far; item %r: %s", *kind, count, result.item_id, result.error.message)
