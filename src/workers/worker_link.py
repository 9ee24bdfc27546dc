"""How a worker speaks with the engine: the socket, the board and the printing of user code. worker.py says what is sent."""

import collections
import contextvars
import io
import json
import mmap
import os
import socket
import struct
import threading
import time

SOCKET_FD = 3
BOARD_FD = 4

HEADER = struct.Struct("<IB")  # bytes after the header, kind
CALL = struct.Struct("<QIIQI")  # id, slot, number of items, seed, bytes of JSON
REPLY = struct.Struct("<QI")  # id, bytes of JSON
HELLO, CALLS, CANCEL = 1, 2, 3
READY, FAILED, REPLIES, TEXT = 11, 12, 13, 14

# Board: 8-byte words. Header, then WORDS_PER_SLOT words a slot.
HEARTBEAT, LOOP_CALL, LOOP_SINCE = 0, 1, 2
HEADER_WORDS, WORDS_PER_SLOT = 8, 4
SLOT_CALL, SLOT_STARTED, SLOT_THREAD = 0, 1, 2
HEARTBEAT_SECONDS = 0.02

MAX_TEXT = 8192  # of one print or traceback

# The call that this thread or task works for; 0 outside of calls.
current_call = contextvars.ContextVar("rewardloop_call", default=0)


class Process:
    # Set in a process that user code forked off: it must never speak to the engine.
    forked = False


class Board:
    def __init__(self):
        memory = mmap.mmap(BOARD_FD, os.fstat(BOARD_FD).st_size)
        os.close(BOARD_FD)
        self.words = memoryview(memory).cast("Q")
        self.loop_thread(0, 0)

    def loop_thread(self, call, now):
        self.words[LOOP_SINCE] = now
        self.words[LOOP_CALL] = call

    def begin(self, slot, call):
        at = HEADER_WORDS + slot * WORDS_PER_SLOT
        self.words[at + SLOT_THREAD] = threading.get_native_id()
        self.words[at + SLOT_STARTED] = time.monotonic_ns()
        self.words[at + SLOT_CALL] = call

    def end(self, slot):
        self.words[HEADER_WORDS + slot * WORDS_PER_SLOT + SLOT_CALL] = 0

    def beat(self):
        while True:
            self.words[HEARTBEAT] = time.monotonic_ns()
            time.sleep(HEARTBEAT_SECONDS)


class Link:
    """The socket to the engine. send() may be called from any thread."""

    def __init__(self):
        self.socket = socket.socket(fileno=SOCKET_FD)
        self.socket.set_inheritable(False)
        self.lock = threading.Lock()
        self.outbox = collections.deque()
        self.buffer = bytearray()

    def send(self, kind, body):
        self.outbox.append(HEADER.pack(len(body), kind) + body)
        # Whoever finds the socket free writes for all.
        while self.outbox and self.lock.acquire(blocking=False):
            try:
                parts = []
                while self.outbox:
                    parts.append(self.outbox.popleft())
                if parts and not Process.forked:
                    self.socket.sendall(b"".join(parts))
            except OSError:
                os._exit(0)  # the engine is gone
            finally:
                self.lock.release()

    def receive(self):
        """Waits for some bytes; the frames that are complete."""
        frames = []
        data = self.socket.recv(1 << 18)
        if not data:
            os._exit(0)
        self.buffer += data
        start = 0
        while len(self.buffer) - start >= HEADER.size:
            length, kind = HEADER.unpack_from(self.buffer, start)
            end = start + HEADER.size + length
            if len(self.buffer) < end:
                break
            frames.append((kind, bytes(self.buffer[start + HEADER.size : end])))
            start = end
        del self.buffer[:start]
        return frames

    def reply(self, call, body):
        self.send(REPLIES, REPLY.pack(call, len(body)) + body)

    def text(self, call, text):
        self.send(TEXT, json.dumps([call, text[:MAX_TEXT]]).encode())


class Printer(io.TextIOBase):
    """sys.stdout and sys.stderr of user code: lines travel to the engine with the call that wrote them."""

    encoding = "utf-8"

    def __init__(self, link, descriptor):
        self.link = link
        self.descriptor = descriptor
        self.pending = {}

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def write(self, text):
        if Process.forked:
            return os.write(self.descriptor, text.encode("utf-8", "replace"))
        call = current_call.get()
        line = self.pending.pop(call, "") + text
        if "\n" in line or len(line) > MAX_TEXT:
            done, _, rest = line.rpartition("\n") if len(line) <= MAX_TEXT else (line, "", "")
            if done:
                self.link.text(call, done)
            line = rest
        if line:
            self.pending[call] = line
        return len(text)

    def flush(self):
        pass

    def finish(self, call):
        rest = self.pending.pop(call, "")
        if rest:
            self.link.text(call, rest)
