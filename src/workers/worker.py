"""A worker process: loads one user function and runs its calls. Standard library only, under the user's interpreter.

Speaks with the engine over a socket (descriptor 3). A frame is a header (length of what follows, kind) and a body:

    engine -> worker   hello (JSON, see Hello), calls (entries: id, slot, seed, count, length, then length of JSON,
                       JSON list of items, texts of items that have "text_bytes" in place of "response"),
                       cancel (ids)
    worker -> engine   ready or failed (JSON), replies (entries: id, length, then JSON list of verdicts),
                       text (JSON: call id, text of print or traceback, its kind or null)

What runs at this moment stands on the board, shared memory (descriptor 4) that the engine reads when a call is late:
the time at which any thread of ours last ran, the call whose coroutine is stepping, and per slot call, start and thread.
"""

import asyncio
import contextvars
import ctypes
import errno
import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import queue
import resource
import signal
import struct
import sys
import threading
import time

from _rewardloop_calls import (
    FunctionError,
    UserFunction,
    decode,
    encode,
    exception_verdict,
    kind_of,
    make_item,
    traceback_text,
)
from _rewardloop_link import (
    CALL,
    CALLS,
    CANCEL,
    FAILED,
    HELLO,
    JSON_BYTES,
    READY,
    Board,
    Link,
    Printer,
    Process,
    current_call,
)
from _rewardloop_random import CallRandom

PROTOCOL = 1
SCRIPT_FD = 5
OLDEST_PYTHON = (3, 9)
PR_SET_PDEATHSIG = 1
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000


class CallTimeout(BaseException):
    """Raised inside a coroutine that keeps the loop beyond its time-out. No `except Exception` may catch it."""


# When even the description of an error fails.
LAST_RESORT = b'{"status": "error", "class": "%s", "message": "%s, and it cannot be described"}'


class Runner:
    """What both kinds of function need."""

    def __init__(self, link, board, function, printers, randoms):
        self.link = link
        self.board = board
        self.function = function
        self.printers = printers
        self.randoms = randoms

    def begin(self, call, seed):
        current_call.set(call)
        self.randoms.begin(seed)

    def items(self, body, count, seed):
        at = JSON_BYTES.size + JSON_BYTES.unpack_from(body)[0]
        items = decode(body[JSON_BYTES.size : at])
        for item in items:
            size = item.pop("text_bytes", None)
            if size is not None:
                item["response"] = str(body[at : at + size], "utf-8", "replace")
                at += size
            item.setdefault("seed", seed)
        return [make_item(item) for item in items]

    def returned(self, call, slot, value, count):
        if Process.forked:
            os._exit(0)
        self.finish(call, slot, self.function.reply(value, count))

    def raised(self, call, slot, error, count):
        if Process.forked:
            os._exit(0)
        try:
            if not isinstance(error, MemoryError):
                self.link.text(call, traceback_text(error), kind_of(error))
            body = encode([exception_verdict(error)] * count, self.function.name)
        except BaseException as second:
            memory = isinstance(error, MemoryError) or isinstance(second, MemoryError)
            verdict = LAST_RESORT % (b"memory_limit" if memory else b"exception", type(error).__name__.encode("ascii", "replace"))
            body = b"[" + b",".join([verdict] * count) + b"]"
        self.finish(call, slot, body)

    def interrupt(self, call):
        pass  # threads end with their worker

    def flush_soon(self):
        """A reply was given: sends it now, or with those that are about to follow."""
        raise NotImplementedError

    def finish(self, call, slot, body):
        for printer in self.printers:
            if printer.pending:
                printer.finish(call)
        self.link.forget(call)
        self.board.end(slot)
        self.link.reply(call, body)
        if self.link.is_overdue():
            self.link.flush()
        else:
            self.flush_soon()


def entries(body):
    body = memoryview(body)
    at = 0
    while at < len(body):
        call, slot, count, seed, length = CALL.unpack_from(body, at)
        at += CALL.size
        yield call, slot, count, seed, body[at : at + length]
        at += length


class ThreadRunner(Runner):
    """Blocking functions: as many threads as calls may run at once.

    With one, that is the main thread, where signal.alarm works; with more, the main thread runs none, so that it works nowhere.
    """

    def prepare(self, threads):
        self.calls = queue.SimpleQueue()
        self.reading = threading.Lock()
        if threads == 1:
            # A handler that raises must not meet the main thread while it reads.
            self.next, others, self.in_main = self.calls.get, [self.read], self.work
        else:
            self.next, others, self.in_main = self.get_or_read, [self.work] * threads, signal.pause
        for target in others:
            threading.Thread(target=target, daemon=True).start()

    def run(self):
        while True:
            try:
                self.in_main()
            except BaseException as error:  # a signal handler of a call that is over
                self.link.text(0, traceback_text(error))

    def flush_soon(self):
        if self.calls.empty():
            self.link.flush()

    def read(self):
        while True:
            self.read_some()

    def read_some(self):
        for kind, body in self.link.receive():
            if kind == CALLS:
                for entry in entries(body):
                    self.calls.put(entry)

    def get_or_read(self):
        """The next call. A thread that finds none reads for all: no time is lost by handing calls from thread to thread."""
        while True:
            try:
                return self.calls.get_nowait()
            except queue.Empty:
                with self.reading:
                    if self.calls.empty():
                        self.read_some()

    def work(self):
        in_main = threading.current_thread() is threading.main_thread()
        while True:
            contextvars.Context().run(self.one, *self.next())
            if in_main:
                signal.setitimer(signal.ITIMER_REAL, 0)  # an alarm that the call left behind

    def one(self, call, slot, count, seed, body):
        self.begin(call, seed)
        self.board.begin(slot, call)
        try:
            value = self.function.call(self.items(body, count, seed))
            if type(value) is not float and inspect.isawaitable(value):
                value = asyncio.run(_await(value))
            self.returned(call, slot, value, count)
        except BaseException as error:
            self.raised(call, slot, error, count)


async def _await(value):
    return await value


class Stepping:
    """Awaits a coroutine and says on the board, before each of its steps, whose it is."""

    def __init__(self, board, call, coroutine):
        self.board = board
        self.call = call
        self.coroutine = coroutine

    def __await__(self):
        board, call = self.board, self.call
        send, throw = self.coroutine.send, self.coroutine.throw
        value, error = None, None
        while True:
            board.loop_thread(call, time.monotonic_ns())
            try:
                yielded = send(value) if error is None else throw(error)
            except StopIteration as stop:
                return stop.value
            finally:
                if Process.forked:
                    os._exit(0)
                board.loop_thread(0, 0)
            value, error = None, None
            try:
                value = yield yielded
            except BaseException as thrown:
                error = thrown


async def _stepping(board, call, coroutine):
    return await Stepping(board, call, coroutine)


class LoopRunner(Runner):
    """Async functions: many calls on one event loop, in the main thread."""

    def prepare(self, threads):
        self.tasks = {}
        self.interrupted = set()
        self.will_flush = False
        self.own_context = contextvars.Context()
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.loop.set_task_factory(self.make_task)
        self.loop.set_exception_handler(self.loop_error)
        self.loop.add_reader(self.link.socket.fileno(), self.read)

    def run(self):
        while True:
            try:
                self.loop.run_forever()
            except BaseException as error:  # SystemExit of a task, or what a signal handler raised: the loop can go on
                self.link.text(current_call.get(), traceback_text(error))
                if isinstance(error, OSError) and error.errno == errno.EBADF:
                    self.link.flush()
                    os._exit(1)  # user code has closed the loop's own descriptors

    def flush_soon(self):
        # Others may end in this turn of the loop.
        if not self.will_flush:
            self.will_flush = True
            self.loop.call_soon(self.flush, context=self.own_context)

    def flush(self):
        self.will_flush = False
        self.link.flush()

    def interrupt(self, call):
        """From the thread that beats: the coroutine that steps now is to end."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(1)  # nobody else runs between the look and the deed
        try:
            if self.board.stepping() == call:
                self.interrupted.add(call)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(threading.main_thread().ident), ctypes.py_object(CallTimeout))
        finally:
            sys.setswitchinterval(before)

    def make_task(self, loop, coroutine, **options):
        call = current_call.get()
        if call and inspect.iscoroutine(coroutine):
            coroutine = _stepping(self.board, call, coroutine)
        return asyncio.Task(coroutine, loop=loop, **options)

    def loop_error(self, loop, context):
        error = context.get("exception")
        self.link.text(current_call.get(), traceback_text(error) if error else str(context.get("message")))

    def read(self):
        for kind, body in self.link.receive():
            if kind == CALLS:
                for entry in entries(body):
                    contextvars.Context().run(self.start, *entry)
            elif kind == CANCEL:
                for (call,) in struct.iter_unpack("<Q", body):
                    if call in self.tasks:
                        self.tasks[call].cancel()

    def start(self, call, slot, count, seed, body):
        self.begin(call, seed)
        self.tasks[call] = self.loop.create_task(self.one(call, slot, count, seed, body))

    async def one(self, call, slot, count, seed, body):
        self.board.begin(slot, call)
        try:
            try:
                value = await self.function.call(self.items(body, count, seed))
            except CallTimeout:
                if call in self.interrupted:
                    raise
                value = await self.function.call(self.items(body, count, seed))  # meant for one that ended just then
            self.returned(call, slot, value, count)
        except BaseException as error:
            self.raised(call, slot, error, count)
        finally:
            self.tasks.pop(call, None)
            self.interrupted.discard(call)


def load(hello):
    """The function and the hash of the file that it lies in."""
    module_name, attribute = hello["module"], hello["attribute"]
    if hello["source"] is not None:
        path = hello["path"]
        sys.path.insert(0, os.path.dirname(path))
        name = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(name, module)
        where = path
        # The source as the engine read it, so that an edit cannot give two workers two functions.
        code = compile(hello["source"].encode("utf-8", "surrogateescape"), path, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    else:
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
                raise FunctionError(
                    "there is no module '%s' (sys.path: %s)" % (error.name, ", ".join(sys.path)),
                    "is it installed for this interpreter, or missing from PYTHONPATH?",
                ) from None
            raise
        where = getattr(module, "__file__", None) or module_name
    value = module
    for part in attribute.split("."):
        if not hasattr(value, part):
            if attribute in registered(module):
                value = registered(module)[attribute]
                break
            raise FunctionError(*no_such_function(module, where, attribute))
        value = getattr(value, part)
    digest = ""
    file = getattr(module, "__file__", None)
    if hello["source"] is None and file and os.path.exists(file):
        with open(file, "rb") as opened:
            digest = hashlib.sha256(opened.read()).hexdigest()[:12]
    return value, where, digest


def registered(module):
    """Functions by the name that `@rl.scorer(name)` gave them."""
    named = [value for value in vars(module).values() if isinstance(getattr(value, "__rewardloop_name__", None), str)]
    return {value.__rewardloop_name__: value for value in named}


def no_such_function(module, where, attribute):
    import difflib

    own = [
        name for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    own += [name for name in registered(module) if name not in own]
    near = difflib.get_close_matches(attribute, own, 1)
    has = "it has %s" % ", ".join(own[:20]) if own else "it defines no function"
    return "%s has no '%s'; %s" % (where, attribute, has), "did you mean '%s'?" % near[0] if near else ""


def limit_memory(limit):
    if limit:
        # Private writable memory: address space alone (torch maps a lot of it) does not count.
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def cut_off_network():
    """An empty network namespace, for functions that evaluate model text. Before any thread starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNET) == 0:
        return
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        raise FunctionError(
            "its worker cannot be cut off from the network (%s)" % os.strerror(ctypes.get_errno()),
            "this rule evaluates model text and runs without network only: run as root or allow user namespaces",
        )
    for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (uid, uid)), ("gid_map", "%d %d 1" % (gid, gid))):
        try:
            with open("/proc/self/" + name, "w") as file:
                file.write(text)
        except OSError:
            pass  # the files are then those of nobody


def say_failed(link, message, hint=""):
    link.send(FAILED, json.dumps({"message": message, "hint": hint}).encode())
    while link.outbox or link.sending:  # another thread is at it
        time.sleep(0.001)
    os._exit(0)


def working_folder():
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was removed


def start(link, board, hello):
    if hello["protocol"] != PROTOCOL:
        say_failed(link, "this worker speaks protocol %d, the engine %d" % (PROTOCOL, hello["protocol"]))
    if sys.version_info < OLDEST_PYTHON:
        say_failed(link, "Python %s is too old, %s or newer is needed" % (
            sys.version.split()[0], ".".join(map(str, OLDEST_PYTHON))))
    if hello["sys_path"] is not None:
        sys.path[:] = hello["sys_path"]
    else:
        sys.path.insert(0, working_folder())
    limit_memory(hello["memory"])
    printers = [Printer(link, 1), Printer(link, 2)]
    sys.stdout, sys.stderr = printers
    randoms = CallRandom.install()

    def after_fork_in_child():
        Process.forked = True
        link.close_in_child()

    os.register_at_fork(after_in_child=after_fork_in_child)
    try:
        if not hello["network"]:
            cut_off_network()
        value, where, digest = load(hello)
        function = UserFunction(value, hello["name"], hello["arguments"], hello["form"])
        kind = LoopRunner if function.is_async else ThreadRunner
        runner = kind(link, board, function, printers, randoms)
        threading.Thread(target=board.beat, args=(runner.interrupt, link), daemon=True).start()
        threading.Thread(target=link.flush_late, daemon=True).start()
        runner.prepare(hello["threads"])
    except FunctionError as error:
        say_failed(link, str(error), error.hint)
    except BaseException as error:
        say_failed(link, "it cannot be imported:\n" + traceback_text(error))
    for printer in printers:
        printer.finish(0)
    link.send(READY, json.dumps({
        "form": function.form, "async": function.is_async, "batch": function.is_batch, "digest": digest,
        "file": where, "python": sys.version.split()[0],
    }).encode())
    runner.run()


def main():
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)
    os.close(SCRIPT_FD)
    link = Link()
    board = Board()
    sys.argv = ["rewardloop-worker"]
    while True:
        for kind, body in link.receive():
            if kind == HELLO:
                # A source in another encoding travels as bytes that are no UTF-8.
                start(link, board, json.loads(body.decode("utf-8", "surrogateescape")))


main()
