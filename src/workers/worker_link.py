"""How a worker speaks with the engine: the socket, the board and the printing of user code. worker.py says what is sent."""

import collections
import contextvars
import fcntl
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
HEARTBEAT, LOOP_CALL, LOOP_SINCE, INTERRUPT = 0, 1, 2, 3
HEADER_WORDS, WORDS_PER_SLOT = 8, 4
SLOT_CALL, SLOT_STARTED, SLOT_THREAD = 0, 1, 2
HEARTBEAT_SECONDS = 0.02

MAX_TEXT = 8192  # of one print or traceback
MAX_CALL_TEXT = 1 << 16  # of all that one call prints, and what runs outside of calls in a second
MAX_TALKING = 4096  # calls whose printing is counted
# User code that closes descriptors one by one rarely comes this far.
OUT_OF_THE_WAY = 200

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

    def stepping(self):
        return self.words[LOOP_CALL]

    def begin(self, slot, call):
        at = HEADER_WORDS + slot * WORDS_PER_SLOT
        self.words[at + SLOT_THREAD] = threading.get_native_id()
        self.words[at + SLOT_STARTED] = time.monotonic_ns()
        self.words[at + SLOT_CALL] = call

    def end(self, slot):
        self.words[HEADER_WORDS + slot * WORDS_PER_SLOT + SLOT_CALL] = 0

    def beat(self, interrupt):
        while True:
            self.words[HEARTBEAT] = time.monotonic_ns()
            call = self.words[INTERRUPT]
            if call:
                self.words[INTERRUPT] = 0
                interrupt(call)
            time.sleep(HEARTBEAT_SECONDS)


class Link:
    """The socket to the engine. send() may be called from any thread."""

    def __init__(self):
        self.socket = socket.socket(fileno=fcntl.fcntl(SOCKET_FD, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY))
        os.close(SOCKET_FD)
        self.lock = threading.Lock()
        self.outbox = collections.deque()
        self.buffer = bytearray()
        self.said = {}  # call -> how much it has printed
        self.second = 0

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
        try:
            data = self.socket.recv(1 << 18)
        except OSError:
            data = b""
        if not data:
            os._exit(0)  # the engine is gone, or user code has closed the socket
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

    def close_in_child(self):
        """In a process that user code forked off: whatever it does, nothing of it may reach the engine."""
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, self.socket.fileno(), inheritable=False)
            os.close(null)
        except OSError:
            pass

    def reply(self, call, body):
        self.send(REPLIES, REPLY.pack(call, len(body)) + body)

    def text(self, call, text):
        second = int(time.monotonic())
        if second != self.second:
            self.second = second
            self.said.pop(0, None)
        said = self.said.get(call, 0)
        if said > MAX_CALL_TEXT:
            return
        text = text[:MAX_TEXT]
        if len(self.said) > MAX_TALKING:
            self.said.clear()
        self.said[call] = said + len(text) + HEADER.size
        if self.said[call] > MAX_CALL_TEXT:
            text += "\n(it prints too much: the rest is left out)"
        self.send(TEXT, json.dumps([call, text]).encode())

    def forget(self, call):
        self.said.pop(call, None)


class BytesPrinter(io.RawIOBase):
    """sys.stdout.buffer of a Printer."""

    def __init__(self, printer):
        self.printer = printer

    def writable(self):
        return True

    def write(self, data):
        data = bytes(data)
        self.printer.write(data.decode("utf-8", "replace"))
        return len(data)


class Printer(io.TextIOBase):
    """sys.stdout and sys.stderr of user code: lines travel to the engine with the call that wrote them."""

    encoding = "utf-8"
    errors = "replace"
    line_buffering = True
    write_through = True

    def __init__(self, link, descriptor):
        self.link = link
        self.descriptor = descriptor
        self.name = "<stdout>" if descriptor == 1 else "<stderr>"
        self.buffer = BytesPrinter(self)
        self.pending = {}

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def reconfigure(self, **options):
        pass  # whatever scripts like to set: it is UTF-8, line by line

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

    def close(self):
        pass  # the next call prints too

    def finish(self, call):
        rest = self.pending.pop(call, "")
        if rest:
            self.link.text(call, rest)
