"""Owns the worker processes of one pool: starts them, ends them, and leaves nothing behind.

One thread, standard library only. It is the subreaper of everything that its workers start, watches its owner through a
pidfd, and speaks with it over a SEQPACKET socket (descriptor 3), one JSON object a packet:

    owner -> launcher   {"start": id} with two descriptors (socket, board); {"kill": id}
    launcher -> owner   {"ready": pid}; {"started": id, "pid": pid}; {"exited": id, "status": wait status}; {"failed": id, "why": text}

It ends when the owner is dead or has closed the socket; every process below it is killed first.
"""

import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import sys
import time

CONTROL_FD = 3
SCRIPT_FD = 4
# Where a worker finds its descriptors.
WORKER_SOCKET_FD = 3
WORKER_BOARD_FD = 4
WORKER_SCRIPT_FD = 5
# Descriptors of ours lie above those, so that dup2 in the child never hits one.
FIRST_OWN_FD = 16

PR_SET_CHILD_SUBREAPER = 36
KILL_ROUNDS = 200
KILL_PAUSE_SECONDS = 0.005
MAX_PACKET = 4096
# The interpreter's own start-up (site, PYTHONPATH) is the user's; ours is off (-I -S).
WORKER_ARGV = [sys.executable, "-u", "/dev/fd/%d" % WORKER_SCRIPT_FD, "rewardloop-worker"]


def own(descriptor):
    """`descriptor` as a close-on-exec copy out of the way."""
    copy = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, FIRST_OWN_FD)
    os.close(descriptor)
    return copy


def children():
    """Pids of this process's children, strays that it inherited included."""
    try:
        with open("/proc/self/task/%d/children" % os.getpid()) as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        pass
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    after_name = file.read().rpartition(")")[2].split()
                if int(after_name[1]) == os.getpid():
                    found.append(int(name))
            except (OSError, IndexError, ValueError):
                pass
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


class Launcher:
    def __init__(self, owner_pid):
        self.owner = os.pidfd_open(owner_pid)
        if os.getppid() != owner_pid:
            raise SystemExit(0)  # it died before we looked
        self.control = socket.socket(fileno=own(CONTROL_FD))
        self.script = own(SCRIPT_FD)
        self.pids = {}  # worker id -> pid
        self.ids = {}  # pid -> worker id
        self.condemned = set()  # strays of dead workers, killed and not yet reaped
        # SIGCHLD wakes the poll: children that we did not start (strays) must be reaped too.
        self.wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.wake_read, wake_write = own(self.wake_read), own(wake_write)
        os.set_blocking(wake_write, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)

    def say(self, **message):
        try:
            self.control.send(json.dumps(message).encode(), socket.MSG_NOSIGNAL)
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.ECONNRESET):
                self.end()
            raise

    def start(self, message, descriptors):
        worker = message["start"]
        links, board = [own(fd) for fd in descriptors]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, links, WORKER_SOCKET_FD),
            (os.POSIX_SPAWN_DUP2, board, WORKER_BOARD_FD),
            (os.POSIX_SPAWN_DUP2, self.script, WORKER_SCRIPT_FD),
        ]
        try:
            pid = os.posix_spawn(
                sys.executable, WORKER_ARGV, os.environ, file_actions=actions, setsid=True,
                setsigmask=[], setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD],
            )
        except OSError as error:
            self.say(failed=worker, why=str(error))
            return
        finally:
            os.close(links)
            os.close(board)
        self.pids[worker] = pid
        self.ids[pid] = worker
        self.say(started=worker, pid=pid)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            worker = self.ids.pop(pid, None)
            if worker is None and pid not in self.condemned:
                continue
            self.condemned.discard(pid)
            # What it left behind: its session, and what left that too and has become our child.
            try:
                os.killpg(pid, signal.SIGKILL)
            except OSError:
                pass
            for stray in children():
                if stray not in self.ids:
                    self.condemned.add(stray)  # what it started becomes our child when it is gone
                    kill(stray)
            if worker is not None:
                del self.pids[worker]
                self.say(exited=worker, status=status)

    def receive(self):
        packet, descriptors, _, _ = socket.recv_fds(self.control, MAX_PACKET, 2)
        if not packet:
            self.end()
        message = json.loads(packet)
        if "start" in message:
            self.start(message, descriptors)
        elif "kill" in message and message["kill"] in self.pids:
            kill(self.pids[message["kill"]])

    def end(self):
        """Kills everything below this process and exits."""
        self.control.close()
        for _ in range(KILL_ROUNDS):
            for pid in children():
                kill(pid)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                break
            time.sleep(KILL_PAUSE_SECONDS)
        os._exit(0)

    def run(self):
        poll = select.poll()
        for descriptor in (self.control.fileno(), self.owner, self.wake_read):
            poll.register(descriptor, select.POLLIN)
        self.say(ready=os.getpid())
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self.owner in ready:
                self.end()
            if self.wake_read in ready:
                try:
                    os.read(self.wake_read, 4096)
                except BlockingIOError:
                    pass
            self.reap()
            if self.control.fileno() in ready:
                self.receive()


def main():
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)  # the owner decides; Ctrl-C in its terminal is not for us
    launcher = Launcher(int(sys.argv[1]))
    try:
        launcher.run()
    finally:
        launcher.end()  # whatever went wrong: nothing stays behind


main()
