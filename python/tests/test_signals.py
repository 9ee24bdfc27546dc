"""Ctrl-C: blocking calls return within 100 ms as KeyboardInterrupt, and the pipeline stays usable."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import sys, time
import rewardloop as rl

def rows(count, **more):
    return [{"item_id": str(i), "response": "#### 1", "ground_truth": "1", **more} for i in range(count)]

with rl.AsyncRewardPipeline(scorer="gsm8k", manager="rate_limited", manager_args={"max_rpm": 0.0001}, timeout=None,
                            backlog_items=4, on_error="null") as p:
    p.collect(p.submit(rows(1)))
    h = p.submit(rows(1, group_id="g"))
    for attempt in range(3):
        print("waiting", flush=True)
        try:
            CALL
        except KeyboardInterrupt:
            now = time.monotonic()
            print("interrupted", now, flush=True)
    p.cancel(h)
    assert [r.status for r in DELIVERY] == ["cancelled"]
    assert p.backlog_items == 0, p.backlog_items
print("closed", flush=True)
"""


DIRECT = """
import time
import rewardloop as rl

rows = [{"item_id": str(i), "response": r"\\boxed{\\frac{\\sqrt{%d}}{3}+x^{17}}" % i, "ground_truth": "(x^2+1)^{8}+%d" % i} for i in range(60000)]
golds, texts = [row["ground_truth"] for row in rows], [row["response"] for row in rows]
for attempt in range(3):
    print("waiting", flush=True)
    try:
        while True:
            CALL
    except KeyboardInterrupt:
        print("interrupted", time.monotonic(), flush=True)
print("closed", flush=True)
"""


MANY_ROWS = """
import time
import rewardloop as rl

row = {"item_id": "a", "response": "#### 1", "ground_truth": "1"}
rows = [row] * 1_500_000 + [{"no such field": 1}]
with rl.AsyncRewardPipeline(scorer="gsm8k") as p:
    for attempt in range(3):
        print("waiting", flush=True)
        try:
            while True:
                try:
                    p.submit(rows)
                except ValueError:
                    pass
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), flush=True)
print("closed", flush=True)
"""


def interrupted_after(program: str) -> float:
    """The least of three times from a Ctrl-C to its exception: a busy machine may let a process wait, not three times in a row."""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stderr is not None
    try:
        took = []
        for _ in range(3):
            assert child.stdout.readline() == "waiting\n", child.stderr.read()
            # In the call for certain: until then nothing may come.
            assert not select.select([child.stdout], [], [], 0.3)[0]
            sent = time.monotonic()  # one clock for all processes
            os.kill(child.pid, signal.SIGINT)
            word, when = child.stdout.readline().split() or [child.stderr.read(), "0"]
            assert word == "interrupted", word
            took.append(float(when) - sent)
        assert child.stdout.readline() == "closed\n", child.stderr.read()
        assert child.wait(30) == 0
    finally:
        child.kill()
        child.wait()
    return min(took)


@pytest.mark.parametrize("call", [
    "rl.Scorer('math').score_batch(rows)",
    "rl.Scorer('math').score_batch(rows, threads=2)",
    "rl.verify_batch(golds, texts)",
    "rl.verify_batch(golds, texts, threads=2)",
])
def test_ctrl_c_ends_judging_without_an_engine(call: str) -> None:
    assert interrupted_after(DIRECT.replace("CALL", call)) < 0.2


def test_ctrl_c_ends_the_reading_of_many_rows() -> None:
    assert interrupted_after(MANY_ROWS) < 0.2


@pytest.mark.parametrize("call", [
    "p.collect(h)",
    "next(p.stream(h))",
    "next(p.collect_groups())",
    "p.submit(rows(10))",
    "p.close('drain')",
])
def test_ctrl_c_ends_blocking_calls_within_100_ms(call: str) -> None:
    # A handle is either streamed or collected.
    delivery = "p.stream(h, timeout=30)" if "stream" in call else "p.collect(h, timeout=30)"
    program = PROGRAM.replace("CALL", call).replace("DELIVERY", delivery)
    assert interrupted_after(program) < 0.1
