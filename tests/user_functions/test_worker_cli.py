"""User functions that misbehave, through the command: what the rows, the log and the machine see of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from uf_helpers import Outcome, rows


@pytest.fixture
def score(functions: Callable[..., str], write: Callable[..., Path], cli: Callable[..., Outcome]) -> Callable[..., Any]:
    """score(text of a file, attribute, rows) -> {item id: row}, and what was logged."""

    def call(text: str, attribute: str, items: list[dict[str, Any]], *options: object, timeout: float = 20) -> tuple[dict[str, Any], str]:
        path = functions(text)
        done = cli("score", write("rows.jsonl", items), "--scorer", f"{path}:{attribute}", "-o", "-", "--on-error", "null",
                   "--max-unscored", "1000", "--num-workers", "2", "--timeout", timeout, *options)
        assert done.code == 0, done.err
        return {row["item_id"]: row for row in done.rows()}, done.err

    return call


def test_text_that_is_no_unicode_survives(score: Callable[..., Any]) -> None:
    text = """
def fn(item):
    if item["item_id"] == "h0": raise ValueError("\\udc80\\0 oops")
    if item["item_id"] == "h1": print("said \\udc80\\0")
    return {"score": 1, "reason": "r\\udc80", "text": "\\ud800", "nul": "a\\0b", "\\udc80key": 1}
"""
    got, log = score(text, "fn", rows(3))
    assert got["h0"]["status"] == "error" and got["h0"]["error"]["class"] == "exception" and "oops" in got["h0"]["error"]["message"]
    for name in ("h1", "h2"):
        assert got[name]["score"] == 1 and got[name]["reason"].startswith("r") and got[name]["extra"]["nul"] == "a\0b"
    assert "[h1] said" in log and "[h0] Traceback" in log


def test_tracebacks_of_one_place_are_counted_not_repeated(score: Callable[..., Any]) -> None:
    text = """
def fn(item):
    if item["item_id"] == "h7": return item["no such"]
    raise ValueError("nothing to see in " + item["item_id"])
"""
    _, log = score(text, "fn", rows(200))
    places = re.findall(r"Traceback .*?\n(\w+): .*?(?: \((\d+) times\))?\n", log, re.DOTALL)
    counts = {name: [int(times or 1) for kind, times in places if kind == name] for name in ("ValueError", "KeyError")}
    assert sum(counts["ValueError"]) == 199 and sum(counts["KeyError"]) == 1
    # At once, and then every five seconds.
    assert len(counts["ValueError"]) < 10


def test_nesting_beyond_what_json_readers_take_is_an_error_of_its_item(score: Callable[..., Any]) -> None:
    text = """
import sys
sys.setrecursionlimit(20_000)
def fn(item):
    if item["item_id"] != "h0": return 1
    value = []
    for _ in range(3000): value = [value]
    return {"score": 1, "value": value}
"""
    got, _ = score(text, "fn", rows(4))
    assert got["h0"]["error"]["class"] == "bad_return"
    assert [got[f"h{i}"]["score"] for i in (1, 2, 3)] == [1, 1, 1]


def test_torn_streams_are_deaths(score: Callable[..., Any]) -> None:
    # It looks for our socket and writes into it. Nothing keeps a function from that; it only costs itself.
    text = """
import os, time
def fn(item):
    if item["item_id"] == "h0":
        for fd in range(3, 400):
            try:
                if "socket:" in os.readlink("/proc/self/fd/%d" % fd): os.write(fd, b"\\xff" * 64)
            except OSError: pass
        time.sleep(10)
    time.sleep(0.02)
    return 1
"""
    got, _ = score(text, "fn", rows(40))
    assert got["h0"]["error"]["class"] == "poison"
    assert all(got[f"h{i}"]["score"] == 1 for i in range(1, 40))


def test_workers_that_die_right_after_their_start_are_one_error_in_the_end(score: Callable[..., Any]) -> None:
    text = """
import os, threading, time
def die():
    time.sleep(0.3)
    os._exit(9)
threading.Thread(target=die, daemon=True).start()
def fn(item):
    time.sleep(1000)
"""
    got, _ = score(text, "fn", rows(4))
    assert {row["error"]["class"] for row in got.values()} <= {"poison", "no_worker"}


def test_a_function_that_kills_the_launcher_costs_itself(score: Callable[..., Any]) -> None:
    text = """
import os, time
def fn(item):
    if item["item_id"] == "h0": os.kill(os.getppid(), 9)
    time.sleep(0.05)
    return 1
"""
    got, _ = score(text, "fn", rows(20))
    assert got["h0"]["status"] in ("error", "scored")
    assert all(got[f"h{i}"]["status"] in ("scored", "error") for i in range(1, 20))
    assert sum(got[f"h{i}"]["status"] == "scored" for i in range(1, 20)) >= 10


def test_ten_megabytes_in_and_four_out(score: Callable[..., Any]) -> None:
    text = "def fn(item): return {'score': len(item['response']), 'reason': item['response'][:3_000_000]}\n"
    got, _ = score(text, "fn", [{"item_id": f"big{i}", "response": "x" * (10 << 20), "ground_truth": ""} for i in range(6)])
    for row in got.values():
        assert row["score"] == 10 << 20 and len(row["reason"]) == 3_000_000


def test_members_of_a_late_batch_have_started_in_time(score: Callable[..., Any]) -> None:
    text = """
import time
def fn(items):
    time.sleep(60 if len(items) > 1 else 0.2)
    return [1.0] * len(items)
"""
    got, log = score(text, "fn", rows(60), "--manager", "batch", "--queue-timeout", "0.5", timeout=1)
    assert {row["status"] for row in got.values()} == {"scored"}, log
