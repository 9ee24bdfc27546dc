"""What engines say reaches the logger `rewardloop`, and nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import rewardloop as rl

WAIT_SECONDS = 20


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.seen: queue.Queue[logging.LogRecord] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.seen.put(record)

    def texts(self) -> list[str]:
        return sorted(self.seen.get_nowait().getMessage() for _ in range(self.seen.qsize()))


@pytest.fixture
def records() -> Iterator[Records]:
    handler = Records()
    logger = logging.getLogger("rewardloop")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def rows(*sources: str) -> list[dict[str, str]]:
    return [
        {"item_id": str(i), "data_source": source, "response": "#### 1", "ground_truth": "1"}
        for i, source in enumerate(sources)
    ]


def test_unknown_rewards_warn_says_each_source_once_with_its_count(records: Records) -> None:
    with rl.AsyncRewardPipeline(unknown_rewards="warn", on_error="null") as pipeline:
        results = pipeline.collect(pipeline.submit(rows("gsm8k", "mine", "yours", "mine", "mine")))
        assert [r.status for r in results] == ["unscorable" if i else "scored" for i in range(5)]
        first = {records.seen.get(timeout=WAIT_SECONDS).getMessage() for _ in range(2)}
        assert len(first) == 2 and all("no scorer is known for data source" in text for text in first)
    rest = records.texts()
    assert len(rest) == 1 and "'mine'" in rest[0] and rest[0].endswith("(2 times)")


def test_rl_score_and_asyncio_deliver_before_they_return(records: Records) -> None:
    rl.score(rows("mine"), unknown_rewards="warn", on_error="null", engine=rl.Engine(threads=1))
    assert [("'mine'" in text) for text in records.texts()] == [True]

    async def main() -> None:
        async with rl.aio.AsyncRewardPipeline(unknown_rewards="warn", on_error="null", engine=rl.Engine(1)) as pipeline:
            await pipeline.collect(await pipeline.submit(rows("yours")))

    asyncio.run(main())
    assert [("'yours'" in text) for text in records.texts()] == [True]


def test_a_handler_that_raises_or_uses_the_package_does_no_harm(records: Records) -> None:
    class Awkward(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with rl.AsyncRewardPipeline(scorer="gsm8k") as other:  # closing delivers, too
                other.collect(other.submit(rows("x")))
            raise RuntimeError("a broken handler")

    awkward = Awkward()
    logger = logging.getLogger("rewardloop")
    logger.addHandler(awkward)
    try:
        with rl.AsyncRewardPipeline(unknown_rewards="warn", on_error="null", engine=rl.Engine(1)) as pipeline:
            pipeline.collect(pipeline.submit(rows("mine")))
            assert "'mine'" in records.seen.get(timeout=WAIT_SECONDS).getMessage()
            logger.removeHandler(awkward)
            pipeline.collect(pipeline.submit(rows("yours")))
            assert "'yours'" in records.seen.get(timeout=WAIT_SECONDS).getMessage()
    finally:
        logger.removeHandler(awkward)


def test_nothing_is_printed_without_a_handler_and_the_exit_does_not_hang() -> None:
    code = (
        "import rewardloop as rl\n"
        "p = rl.AsyncRewardPipeline(unknown_rewards='warn', on_error='null')\n"
        "rows = [{'item_id': str(i), 'data_source': str(i % 7), 'response': '1', 'ground_truth': '1'} for i in range(50)]\n"
        "p.collect(p.submit(rows))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_said_last_still_arrives_at_the_exit() -> None:
    code = (
        "import logging, sys\n"
        "logging.basicConfig(format='%(levelname)s %(name)s %(message)s')\n"
        "import rewardloop as rl\n"
        "p = rl.AsyncRewardPipeline(unknown_rewards='warn', on_error='null')\n"
        "rows = [{'item_id': str(i), 'data_source': 'mine', 'response': '1', 'ground_truth': '1'} for i in range(9)]\n"
        "p.collect(p.submit(rows))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_SECONDS)
    assert done.returncode == 0 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("WARNING rewardloop no scorer is known for data source 'mine'") for line in lines)
    assert lines[1].endswith("(8 times)")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_a_log_of_its_own(records: Records) -> None:
    with rl.AsyncRewardPipeline(scorer="gsm8k") as before:
        before.collect(before.submit(rows("x")))
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                with rl.AsyncRewardPipeline(unknown_rewards="warn", on_error="null", engine=rl.Engine(1)) as pipeline:
                    pipeline.collect(pipeline.submit(rows("mine")))
                    code = 0 if "'mine'" in records.seen.get(timeout=WAIT_SECONDS).getMessage() else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert records.texts() == []
    assert sum(thread.name == "rewardloop-log" for thread in threading.enumerate()) == 1
