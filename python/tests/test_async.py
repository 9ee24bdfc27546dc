"""rl.aio: the same pipeline from event loops."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import items, stalled_options

import rewardloop as rl

aio = rl.aio


def run(coroutine: Any) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, 60))


async def stalled_pipeline(**options: Any) -> rl.aio.AsyncRewardPipeline:
    pipeline = aio.AsyncRewardPipeline(**stalled_options(**options))
    await pipeline.collect(await pipeline.submit(items(1)))  # takes the limiter's only token
    return pipeline


def test_same_names_as_the_sync_pipeline() -> None:
    def public(cls: type) -> set[str]:
        return {name for name in dir(cls) if not name.startswith("_")}

    assert public(aio.AsyncRewardPipeline) == public(rl.AsyncRewardPipeline)
    assert public(aio.Step) == public(rl.Step)


def test_submit_collect_in_order() -> None:
    async def main() -> None:
        async with aio.AsyncRewardPipeline(scorer="gsm8k") as pipeline:
            handles = [await pipeline.submit(items(10, wrong=(k,))) for k in range(10)]
            batches = await asyncio.gather(*[pipeline.collect(handle) for handle in handles])
            for k, results in enumerate(batches):
                assert results.scores.tolist() == [float(i != k) for i in range(10)]

    run(main())


def test_many_waiters_of_single_items() -> None:
    async def main() -> None:
        async with aio.AsyncRewardPipeline(scorer="gsm8k") as pipeline:
            async def one(i: int) -> float | None:
                return (await pipeline.collect(await pipeline.submit(items(1, wrong=(i % 2 - 1,)))))[0].score

            assert await asyncio.gather(*[one(i) for i in range(500)]) == [1.0, 0.0] * 250

    run(main())


def test_stream() -> None:
    async def main() -> None:
        async with aio.AsyncRewardPipeline(scorer="gsm8k") as pipeline:
            handle = await pipeline.submit(items(100))
            assert {r.item_id async for r in pipeline.stream(handle)} == {f"q{i}" for i in range(100)}

    run(main())


def test_groups_and_steps() -> None:
    async def main() -> None:
        async with aio.AsyncRewardPipeline(scorer="gsm8k", group_size=2) as pipeline, pipeline.step() as step:
            handles = [await step.submit([{**row, "group_id": i % 3}]) for i, row in enumerate(items(6))]
            await step.sampling_done()
            groups = [g.group_id async for g in step.collect_groups()]
            assert sorted(groups) == ["0", "1", "2"] and len(handles) == 6
            assert step.metrics()["items"] == 6

    run(main())


def test_on_error_raise() -> None:
    async def main() -> None:
        async with aio.AsyncRewardPipeline(scorer="gsm8k") as pipeline:
            handle = await pipeline.submit([{"item_id": "a", "response": "", "ground_truth": None}])
            with pytest.raises(rl.RewardError) as caught:
                await pipeline.collect(handle)
            assert caught.value.results[0].status == "unscorable"

    run(main())


def test_time_outs_leave_the_handle_valid() -> None:
    async def main() -> None:
        pipeline = await stalled_pipeline(on_error="null")
        handle = await pipeline.submit(items(2))
        for _ in range(3):
            with pytest.raises(TimeoutError, match="no result yet"):
                await pipeline.collect(handle, timeout=0.01)
        await pipeline.cancel(handle)
        assert [r.status for r in await pipeline.collect(handle)] == ["cancelled"] * 2
        with pytest.raises(TimeoutError):
            await anext(pipeline.stream(await pipeline.submit(items(1)), timeout=0.01))
        await pipeline.close("cancel")

    run(main())


def test_cancelling_a_task_cancels_the_wait_only() -> None:
    async def main() -> None:
        pipeline = await stalled_pipeline(on_error="null")
        handle = await pipeline.submit(items(2))
        task = asyncio.create_task(pipeline.collect(handle))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert pipeline.backlog_items == 2 and not pipeline.ready(handle)
        waiter = asyncio.create_task(pipeline.collect(handle))
        await asyncio.sleep(0)
        pipeline.cancel(handle)
        assert [r.status for r in await waiter] == ["cancelled"] * 2
        await pipeline.close("cancel")

    run(main())


def test_a_full_backlog_does_not_block_the_loop() -> None:
    async def main() -> None:
        pipeline = await stalled_pipeline(backlog_items=2, on_error="null")
        first = await pipeline.submit(items(2))
        waiting = asyncio.create_task(pipeline.submit(items(3)))
        given_up = asyncio.create_task(pipeline.submit(items(1)))
        for _ in range(10):
            await asyncio.sleep(0)  # the loop goes on
        assert not waiting.done()
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await pipeline.cancel(first)  # makes room for two of the three
        assert [r.status for r in await pipeline.collect(first)] == ["cancelled"] * 2
        await pipeline.close("cancel")
        await asyncio.gather(waiting, return_exceptions=True)

    run(main())


def test_submits_that_wait_for_room_share_a_thread_and_keep_their_order() -> None:
    async def main() -> None:
        pipeline = await stalled_pipeline(backlog_items=2, on_error="null")
        first = await pipeline.submit(items(2))
        before = len(os.listdir("/proc/self/task"))
        waiting = [asyncio.create_task(pipeline.submit(items(1))) for _ in range(50)]
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(os.listdir("/proc/self/task")) <= before + 1
        for task in waiting[40:]:
            task.cancel()
        handles = [first]
        for i in range(40):  # each cancelled one lets the next in
            await pipeline.cancel(handles[i])
            await pipeline.collect(handles[i])
            handles.append(await waiting[i])
        assert [handle.submit for handle in handles] == sorted(handle.submit for handle in handles)
        assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*waiting[40:], return_exceptions=True))
        await pipeline.close("cancel")

    run(main())


def test_a_time_out_that_is_none_is_refused_as_the_sync_pipeline_does() -> None:
    async def main() -> None:
        async with aio.AsyncRewardPipeline(scorer="gsm8k") as pipeline:
            handle = await pipeline.submit(items(1))
            for bad in (-1.0, float("nan")):
                for wait in (lambda: pipeline.collect(handle, bad), lambda: anext(pipeline.stream(handle, bad)),
                             lambda: anext(pipeline.collect_groups(bad)), lambda: pipeline.close("drain", bad)):
                    with pytest.raises(rl.ArgumentError, match="timeout must be seconds"):
                        await wait()

    run(main())


def test_close_ends_when_a_submit_was_waiting_for_room() -> None:
    async def main() -> None:
        for _ in range(50):  # each time the submit and the close meet at another moment
            pipeline = await stalled_pipeline(backlog_items=1, on_error="null")
            first = await pipeline.submit(items(1))
            waiting = asyncio.create_task(pipeline.submit(items(3)))
            await asyncio.sleep(0)
            await pipeline.cancel(first)
            await pipeline.close("cancel", timeout=30)
            await asyncio.gather(waiting, return_exceptions=True)

    run(main())


def test_several_loops_in_several_threads_share_a_pipeline() -> None:
    pipeline = aio.AsyncRewardPipeline(scorer="gsm8k")
    failures: list[BaseException] = []

    async def client(k: int) -> None:
        for _ in range(20):
            results = await pipeline.collect(await pipeline.submit(items(10, wrong=(k,))))
            assert results.scores.tolist() == [float(i != k) for i in range(10)]

    def work(k: int) -> None:
        try:
            run(client(k))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run(pipeline.close())
    assert not failures


def test_items_that_are_given_up_at_any_moment_end_once(tmp_path: Path) -> None:
    # In a process of its own: what was given up while it came in used to go on twice.
    (tmp_path / "given_up.py").write_text(textwrap.dedent("""
        import asyncio, random, sys, threading
        import rewardloop as rl

        async def judge(item):
            await asyncio.sleep(random.random() * 0.01)
            return 1.0

        async def client(pipeline, draw):
            for _ in range(40):
                rows = [{"item_id": str(i), "response": "x"} for i in range(draw.randint(1, 4))]
                try:
                    handle = await asyncio.wait_for(pipeline.submit(rows), draw.choice([None, 0.002, 1]))
                except TimeoutError:
                    continue
                fate = draw.randint(0, 2)
                if fate == 0:
                    del handle
                    continue
                if fate == 1:
                    pipeline.cancel(handle)
                assert [r.item_id for r in await pipeline.collect(handle)] == [row["item_id"] for row in rows]

        async def main(pipeline, seed):
            await asyncio.gather(*[client(pipeline, random.Random(100 * seed + k)) for k in range(10)])

        pipeline = rl.aio.AsyncRewardPipeline(scorer=judge, backlog_items=16, timeout=60, on_error="null")
        threads = [threading.Thread(target=lambda k=k: asyncio.run(main(pipeline, k))) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(pipeline.backlog_items, pipeline.uncollected_items)
        asyncio.run(pipeline.close("cancel"))
    """))
    done = subprocess.run([sys.executable, tmp_path / "given_up.py"], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0\n", "")


def test_a_loop_after_another() -> None:
    pipeline = aio.AsyncRewardPipeline(scorer="gsm8k")

    async def main() -> float | None:
        return (await pipeline.collect(await pipeline.submit(items(1))))[0].score

    assert [run(main()) for _ in range(3)] == [1.0] * 3
    run(pipeline.close("cancel"))


def test_close_drains() -> None:
    async def main() -> None:
        pipeline = aio.AsyncRewardPipeline(scorer="gsm8k")
        handle = await pipeline.submit(items(1000))
        await pipeline.close("drain", timeout=30)
        assert len(await pipeline.collect(handle)) == 1000
        stalled = await stalled_pipeline()
        kept = await stalled.submit(items(1))
        with pytest.raises(TimeoutError):
            await stalled.close("drain", timeout=0.01)
        await stalled.close("cancel")
        assert len(kept) == 1

    run(main())
