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
CALL = struct.Struct("<QIIQI")  # id, slot, number of items, seed, bytes of what follows
JSON_BYTES = struct.Struct("<I")
REPLY = struct.Struct("<QI")  # id, bytes of JSON
HELLO, CALLS, CANCEL = 1, 2, 3
READY, FAILED, REPLIES, TEXT = 11, 12, 13, 14

# Board: 8-byte words. Header, then WORDS_PER_SLOT words a slot.
HEARTBEAT, LOOP_CALL, LOOP_SINCE, INTERRUPT = 0, 1, 2, 3
HEADER_WORDS, WORDS_PER_SLOT = 8, 4
SLOT_CALL, SLOT_STARTED, SLOT_THREAD = 0, 1, 2
READ_BYTES = 1 << 18
HEARTBEAT_SECONDS = 0.02
FLUSH_AFTER_NS = 1_000_000
MAX_TOGETHER = 1 << 20  # bytes of the replies in one frame

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


def frames_of(messages):
    """The bytes of [(kind, body)], with replies that follow each other in one frame."""
    parts, replies, size = [], [], 0
    for kind, body in [*messages, (None, b"")]:
        if replies and (kind != REPLIES or size + len(body) > MAX_TOGETHER):
            parts += (HEADER.pack(size, REPLIES), *replies)
            replies, size = [], 0
        if kind == REPLIES:
            replies.append(body)
            size += len(body)
        elif kind is not None:
            parts += (HEADER.pack(len(body), kind), body)
    return b"".join(parts)


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

    def beat(self, interrupt, link):
        while True:
            self.words[HEARTBEAT] = time.monotonic_ns()
            if link.outbox:  # replies that wait behind a call that takes long
                link.late.set()
            call = self.words[INTERRUPT]
            if call:
                self.words[INTERRUPT] = 0
                interrupt(call)
            time.sleep(HEARTBEAT_SECONDS)


class Link:
    """The socket to the engine. Everything but receive() may be called from any thread.

    What is sent waits in the outbox for a flush, and replies that wait there travel in one frame: a system call, a change of
    threads and a wake-up of the engine for each reply take longer than a usual call does.
    """

    def __init__(self):
        self.socket = socket.socket(fileno=fcntl.fcntl(SOCKET_FD, fcntl.F_DUPFD_CLOEXEC, OUT_OF_THE_WAY))
        os.close(SOCKET_FD)
        self.lock = threading.Lock()
        self.outbox = collections.deque()  # (kind, body)
        self.sending = b""  # of the outbox, while it is being sent
        self.flushed = 0  # when
        self.late = threading.Event()
        self.space = bytearray(READ_BYTES)  # what was received and is no whole frame yet: the first `filled` bytes
        self.filled = 0
        self.said = {}  # call -> how much it has printed
        self.second = 0

    def send(self, kind, body):
        self.outbox.append((kind, body))
        self.flush()

    def flush(self):
        # Whoever finds the socket free writes for all.
        while (self.outbox or self.sending) and self.lock.acquire(blocking=False):
            try:
                # An interrupted call may leave this at any point: what it had begun is sent again, and a reply that comes
                # twice counts once.
                if not self.sending:
                    waiting = list(self.outbox)
                    self.sending = frames_of(waiting)
                    for _ in waiting:
                        self.outbox.popleft()
                if not Process.forked:
                    self.socket.sendall(self.sending)
                self.sending = b""
                self.flushed = time.monotonic_ns()
            except OSError:
                os._exit(0)  # the engine is gone
            finally:
                self.lock.release()

    def flush_late(self):
        """For a thread of its own: the heart must beat on while the engine takes its time to read."""
        while True:
            self.late.wait()
            self.late.clear()
            self.flush()

    def is_overdue(self):
        """The last flush was so long ago that what comes next should not wait for company."""
        return time.monotonic_ns() - self.flushed > FLUSH_AFTER_NS

    def receive(self):
        """Waits for some bytes; the frames that are complete."""
        view = memoryview(self.space)
        try:
            count = self.socket.recv_into(view[self.filled :])
        except OSError:
            count = 0
        if not count:
            os._exit(0)  # the engine is gone, or user code has closed the socket
        self.filled += count
        frames = []
        start, need = 0, HEADER.size
        while self.filled - start >= need:
            length, kind = HEADER.unpack_from(view, start)
            end = start + HEADER.size + length
            if self.filled < end:
                need = end - start
                break
            frames.append((kind, bytes(view[start + HEADER.size : end])))
            start, need = end, HEADER.size
        if start or need > len(self.space):
            rest = bytes(view[start : self.filled])
            if len(self.space) != max(need, READ_BYTES):
                self.space = bytearray(max(need, READ_BYTES))
            self.space[: len(rest)] = rest
            self.filled = len(rest)
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
        """For the next flush."""
        self.outbox.append((REPLIES, REPLY.pack(call, len(body)) + body))

    def text(self, call, text, kind=None):
        """What user code printed or raised. Of one `kind`, the engine writes the first and counts the others."""
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
        self.send(TEXT, json.dumps([call, text, kind]).encode())

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
