"""A worker process without an engine: starts worker.py as the launcher does and speaks its protocol."""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SOURCE_DIR = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 60
HEADER, CALL, REPLY = struct.Struct("<IB"), struct.Struct("<QIIQI"), struct.Struct("<QI")
HELLO, CALLS, CANCEL, READY, FAILED, REPLIES, TEXT = 1, 2, 3, 11, 12, 13, 14
SLOTS = 64


def script() -> str:
    """As launcher_process.cc puts it together."""
    parts = {
        "_rewardloop_calls": "python/rewardloop/_calls.py",
        "_rewardloop_link": "src/workers/worker_link.py",
        "_rewardloop_random": "src/workers/worker_random.py",
        "_rewardloop_worker": "src/workers/worker.py",
    }
    text = (
        "import sys, types\n"
        "if not getattr(sys.flags, 'safe_path', False): sys.path.pop(0)\n"
        "globals().pop('__file__', None)\n"
        "def run(name, text):\n"
        "    module = sys.modules[name] = types.ModuleType(name)\n"
        "    exec(compile(text, '<rewardloop ' + name + '>', 'exec'), module.__dict__)\n"
    )
    return text + "".join(f"run({name!r}, {(SOURCE_DIR / path).read_text()!r})\n" for name, path in parts.items())


def payload(items: list[dict[str, Any]], texts: bytes = b"") -> bytes:
    text = json.dumps(items).encode()
    return struct.pack("<I", len(text)) + text + texts


class WorkerEnded(Exception):
    pass


class Worker:
    """One worker with ``source`` as its file of functions."""

    def __init__(self, source: str | None, attribute: str = "fn", python: str = sys.executable, threads: int = 2,
                 path: str = "/no/rewards.py", module: str = "", **options: Any) -> None:
        self.socket, theirs = socket.socketpair()
        self.board_file = os.memfd_create("board")
        os.ftruncate(self.board_file, 8 * (8 + 4 * SLOTS))
        self.board = mmap.mmap(self.board_file, 0)
        self.buffer = b""
        self.texts: list[list[Any]] = []
        self.replies: dict[int, list[dict[str, Any]]] = {}
        self.next_call = 1
        self.largest_frame = 0
        with tempfile.TemporaryFile() as file, open(os.devnull, "rb") as null:
            file.write(script().encode())
            file.flush()
            file.seek(0)
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20) for fd in (theirs.fileno(), self.board_file, file.fileno())]
            actions = [(os.POSIX_SPAWN_DUP2, null.fileno(), 0)]
            actions += [(os.POSIX_SPAWN_DUP2, fd, 3 + i) for i, fd in enumerate(high)]
            self.pid = os.posix_spawn(python, [python, "-u", "/dev/fd/5", "rewardloop-worker"],
                                      {**os.environ, "PYTHONHASHSEED": "0"}, file_actions=actions, setsid=True)
            for fd in high:
                os.close(fd)
        theirs.close()
        self.send(HELLO, json.dumps({
            "protocol": options.get("protocol", 1), "name": f"rewards.py:{attribute}", "module": module, "attribute": attribute,
            "path": path if source is not None else None, "source": source, "arguments": options.get("arguments", {}),
            "form": options.get("form"), "threads": threads, "memory": options.get("memory", 0), "network": True,
            "sys_path": options.get("sys_path"),
        }).encode())
        kind, body = self.receive()
        while kind == TEXT:
            kind, body = self.receive()
        self.info = json.loads(body)
        self.failed = kind == FAILED

    def send(self, kind: int, body: bytes) -> None:
        try:
            self.socket.sendall(HEADER.pack(len(body), kind) + body)
        except BrokenPipeError:
            pass  # it has ended, as receive() will say

    def receive(self) -> tuple[int, bytes]:
        """The next frame; texts and replies are kept too."""
        while True:
            if len(self.buffer) >= HEADER.size:
                length, kind = HEADER.unpack_from(self.buffer)
                self.largest_frame = max(self.largest_frame, length)
                if len(self.buffer) >= HEADER.size + length:
                    body = self.buffer[HEADER.size : HEADER.size + length]
                    self.buffer = self.buffer[HEADER.size + length :]
                    if kind == TEXT:
                        self.texts.append(json.loads(body)[:2])
                    while kind == REPLIES and body:
                        call, size = REPLY.unpack_from(body)
                        assert call not in self.replies, "answered twice"
                        verdicts = json.loads(body[REPLY.size : REPLY.size + size])
                        self.replies[call] = [v if isinstance(v, dict) else {"status": "scored", "score": v} for v in verdicts]
                        body = body[REPLY.size + size :]
                    return kind, body
            if not select.select([self.socket], [], [], PATIENCE_SECONDS)[0]:
                raise AssertionError("nothing came")
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionResetError:  # it did not read what we sent
                data = b""
            if not data:
                raise WorkerEnded(os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]))
            self.buffer += data

    def start(self, *items: dict[str, Any], seed: int = 1) -> int:
        call, self.next_call = self.next_call, self.next_call + 1
        body = payload(list(items) or [{"item_id": "a"}])
        self.send(CALLS, CALL.pack(call, call % SLOTS, max(1, len(items)), seed, len(body)) + body)
        return call

    def start_together(self, *items: dict[str, Any]) -> list[int]:
        """A call for each item, all in one frame."""
        first, self.next_call = self.next_call, self.next_call + len(items)
        calls = list(range(first, self.next_call))
        bodies = [payload([item]) for item in items]
        self.send(CALLS, b"".join(
            CALL.pack(call, call % SLOTS, 1, 1, len(body)) + body for call, body in zip(calls, bodies, strict=True)))
        return calls

    def cancel(self, call: int) -> None:
        self.send(CANCEL, struct.pack("<Q", call))

    def finish(self, call: int) -> list[dict[str, Any]]:
        while call not in self.replies:
            self.receive()
        return self.replies.pop(call)

    def ask(self, *items: dict[str, Any], seed: int = 1) -> list[dict[str, Any]]:
        return self.finish(self.start(*items, seed=seed))

    def one(self, **item: Any) -> dict[str, Any]:
        (verdict,) = self.ask({"item_id": "a", **item})
        return verdict

    def words(self, at: int, count: int) -> tuple[int, ...]:
        return struct.unpack_from(f"<{count}Q", self.board, 8 * at)

    def interrupt(self, call: int) -> None:
        struct.pack_into("<Q", self.board, 8 * 3, call)

    def wait_for(self, condition: Any) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < end
            select.select([], [], [], 0.005)

    def close(self) -> None:
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        self.socket.close()
        self.board.close()
        os.close(self.board_file)

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
