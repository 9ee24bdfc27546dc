"""What the tests of user functions share: files of functions, counted executions, and processes that were left behind."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

SOURCE_DIR = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 100
# A process with this variable in its environment was started, directly or not, by the test that set its value.
MARK = "REWARDLOOP_TEST_MARK"
# The long forms of tests that have a short one.
LONG = bool(os.environ.get("REWARDLOOP_LONG_TESTS"))

# For functions that tell how often they ran: executed(item) appends a line "id monotonic-time pid" to $EXECUTIONS.
COUNTING = """
import asyncio, os, threading, time

def executed(item):
    line = "%s %.6f %d\\n" % (item["item_id"], time.monotonic(), os.getpid())
    log = os.open(os.environ["EXECUTIONS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, line.encode())
    os.close(log)
"""


class Outcome:
    def __init__(self, finished: subprocess.CompletedProcess[bytes]) -> None:
        self.code = finished.returncode
        self.raw_out = finished.stdout
        self.out = finished.stdout.decode("utf-8", "surrogateescape")
        self.err = finished.stderr.decode("utf-8", "surrogateescape")

    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.split("\n") if line]


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def row(name: str, **fields: Any) -> dict[str, Any]:
    return {"item_id": name, "response": f"text of {name}", "ground_truth": name, **fields}


def rows(count: int, prefix: str = "h", **fields: Any) -> list[dict[str, Any]]:
    return [row(f"{prefix}{i}", **fields) for i in range(count)]


class Executions:
    """What functions with COUNTING in their file have written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def all(self) -> list[tuple[str, float, int]]:
        if not self.path.exists():
            return []
        parts = (line.split() for line in self.path.read_text().splitlines())
        return [(name, float(at), int(pid)) for name, at, pid in parts]

    def counts(self) -> Counter[str]:
        return Counter(name for name, _, _ in self.all())

    def pids(self) -> set[int]:
        return {pid for _, _, pid in self.all()}


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> float:
    """Asks again and again; the seconds that it took."""
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < seconds, f"{what}: not within {seconds} s"
        threading.Event().wait(0.005)
    return time.monotonic() - begin


def marked_processes(mark: str) -> dict[int, str]:
    """Processes whose environment holds MARK=mark, zombies excepted (they have none): pid -> command line."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def children() -> set[int]:
    """Pids of this process's children of any thread, zombies included."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found.update(int(pid) for pid in (task / "children").read_text().split())
        except OSError:
            continue
    return found


def descriptors() -> Counter[str]:
    """What this process has open, by kind and target."""
    found: Counter[str] = Counter()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        found["socket" if target.startswith("socket:") else "pipe" if target.startswith("pipe:") else target] += 1
    return found


class Leftovers:
    """Children, descriptors, shared memory and mappings of this process now, to be compared with later."""

    def __init__(self, temporary: Path) -> None:
        self.temporary = temporary
        self.children = children()
        self.descriptors = descriptors()
        self.shared = set(os.listdir("/dev/shm"))

    @staticmethod
    def boards() -> int:
        return Path("/proc/self/maps").read_text().count("rewardloop-board")

    def assert_none(self) -> None:
        wait_until(lambda: children() <= self.children, 5, "children are left")
        more = descriptors() - self.descriptors
        assert not more, f"descriptors are left: {dict(more)}"
        assert self.boards() == 0, "boards of workers are still mapped"
        new = {name for name in set(os.listdir("/dev/shm")) - self.shared if "rewardloop" in name}
        assert not new, f"shared memory is left: {new}"
        assert os.listdir(self.temporary) == [], "temporary files are left"


def scores(results: Iterable[Any]) -> dict[str, float | None]:
    return {result.item_id: result.score for result in results}
