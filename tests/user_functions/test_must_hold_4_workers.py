"""Must hold 4: what surrounds a function in its worker, and how it ends: environment, memory, descriptors, Ctrl-C, time-outs."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from uf_helpers import TIMEOUT_SECONDS, Executions, Outcome, marked_processes, read_rows, rows, wait_until

import rewardloop as rl

# --- environment


ENVIRONMENT = """
    def environment(item):
        return {"score": 1.0, "env": dict(os.environ)}
    """


@pytest.fixture
def environment(functions: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    def run(**options: Any) -> dict[str, str]:
        with rl.AsyncRewardPipeline(scorer=f"{functions(ENVIRONMENT)}:environment", num_workers=1, **options) as p:
            (result,) = p.collect(p.submit(rows(1)), timeout=60)
        env: dict[str, str] = result.extra["env"]
        return env

    for name in ("SECRET_TOKEN", "AWS_KEY", "AWS_ID", "KEPT"):
        monkeypatch.setenv(name, f"value of {name}")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    return run


def test_the_environment_is_the_callers_minus_what_is_hidden(environment: Callable[..., dict[str, str]]) -> None:
    env = environment(hide_env="SECRET_TOKEN, AWS_*")
    assert env["KEPT"] == "value of KEPT"
    assert [name for name in env if name == "SECRET_TOKEN" or name.startswith("AWS_")] == []


def test_numeric_libraries_get_one_thread_and_hashes_are_fixed(environment: Callable[..., dict[str, str]]) -> None:
    env = environment()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        assert env[name] == "1"
    assert env["PYTHONHASHSEED"] == "0"
    assert env["SECRET_TOKEN"] == "value of SECRET_TOKEN"  # nothing is hidden unasked


@pytest.mark.parametrize(("gpus", "seen"), [("", ""), ("all", "0,1"), ("1", "1")])
def test_devices_are_hidden_unless_asked_for(environment: Callable[..., dict[str, str]], gpus: str, seen: str) -> None:
    assert environment(worker_gpus=gpus)["CUDA_VISIBLE_DEVICES"] == seen


# --- memory, descriptors, threads


def test_a_worker_over_its_memory_limit_has_a_class_of_its_own(functions: Callable[..., str]) -> None:
    path = functions("""
        def allocates(item):
            if item["item_id"] == "bad0":
                return float(len(bytearray(1 << 30)))
            return 0.25
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:allocates", num_workers=1, worker_memory=400 << 20, on_error="null") as p:
        got = p.collect(p.submit([*rows(5), *rows(1, "bad"), *rows(5, "after")]), timeout=60)
    bad = next(r for r in got if r.item_id == "bad0")
    assert bad.error is not None and (bad.status, bad.error.class_, bad.score) == ("error", "memory_limit", None)
    assert {r.score for r in got if r is not bad} == {0.25}


def test_a_worker_has_no_descriptors_of_its_caller(functions: Callable[..., str], tmp_path: Path) -> None:
    path = functions("""
        def descriptors(item):
            targets = []
            for name in os.listdir("/proc/self/fd"):
                try:
                    targets.append(os.readlink("/proc/self/fd/" + name))
                except OSError:
                    pass
            return {"score": 1.0, "targets": targets}
        """)
    secret = tmp_path / "secret"
    with open(secret, "w", encoding="utf-8") as file:
        os.set_inheritable(file.fileno(), True)
        with rl.AsyncRewardPipeline(scorer=f"{path}:descriptors", num_workers=2) as p:
            (result,) = p.collect(p.submit(rows(1)), timeout=60)
    assert [target for target in result.extra["targets"] if "secret" in target] == []
    assert len([target for target in result.extra["targets"] if target.startswith("socket:")]) == 1


def test_one_thread_is_the_main_thread_where_signals_work(functions: Callable[..., str]) -> None:
    path = functions("""
        import signal

        def alarm(item):
            signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("own alarm")))
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                time.sleep(10)
            except TimeoutError:
                return 0.5
            return 0.0
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:alarm", num_workers=1, threads_per_worker=1) as p:
        assert p.collect(p.submit(rows(3)), timeout=60).scores.tolist() == [0.5] * 3
    with rl.AsyncRewardPipeline(scorer=f"{path}:alarm", num_workers=1, on_error="null") as p:
        (result,) = p.collect(p.submit(rows(1)), timeout=60)
    assert result.error is not None and "main thread" in result.error.message


def test_several_threads_and_event_loops_use_functions_at_once(functions: Callable[..., str], leftovers: object) -> None:
    path = functions("""
        async def length(item):
            await asyncio.sleep(0.01)
            return len(item["item_id"])
        """)

    async def with_asyncio(prefix: str) -> list[float]:
        async with rl.aio.AsyncRewardPipeline(scorer=f"{path}:length", num_workers=1) as own:
            handle = await own.submit(rows(50, prefix))
            return [float(r.score or 0) for r in await own.collect(handle, timeout=60)]

    got: dict[str, list[float]] = {}
    with rl.AsyncRewardPipeline(scorer=f"{path}:length", num_workers=1) as shared:

        def with_threads(prefix: str) -> None:
            got[prefix] = shared.collect(shared.submit(rows(50, prefix)), timeout=60).scores.tolist()

        threads = [threading.Thread(target=with_threads, args=(f"thread{i}",)) for i in range(4)]
        threads += [threading.Thread(target=lambda name=f"loop{i}": got.__setitem__(name, asyncio.run(with_asyncio(name))))
                    for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(got) == 6
    for prefix, scores in got.items():
        assert scores == [float(len(prefix) + len(str(i))) for i in range(50)]


# --- waiting


WAITS = """
    async def waits(item):
        executed(item)
        await asyncio.sleep(1e6 if item["ground_truth"] == "for ever" else 0)
        return 0.5

    def blocks(item):
        executed(item)
        time.sleep(1e6 if item["ground_truth"] == "for ever" else 0)
        return 0.5
    """


def test_a_collect_that_times_out_leaves_the_handle_valid(functions: Callable[..., str], tmp_path: Path) -> None:
    path = functions(f"""
        async def waits(item):
            while not os.path.exists({str(tmp_path / "go")!r}):
                await asyncio.sleep(0.01)
            return 0.5
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:waits", num_workers=1, timeout=60) as p:
        handle = p.submit(rows(2))
        with pytest.raises(TimeoutError):
            p.collect(handle, timeout=0.1)
        (tmp_path / "go").touch()
        assert p.collect(handle, timeout=60).scores.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("function", ["waits", "blocks"])
def test_cancelled_items_end_and_the_workers_go_on(
    functions: Callable[..., str], executions: Executions, leftovers: object, function: str
) -> None:
    with rl.AsyncRewardPipeline(scorer=f"{functions(WAITS)}:{function}", num_workers=1, timeout=None, on_error="null") as p:
        handle = p.submit(rows(4, "long", ground_truth="for ever"))
        wait_until(lambda: sum(executions.counts().values()) == 4, 30, "all four run")
        p.cancel(handle)
        assert [r.status for r in p.collect(handle, timeout=10)] == ["cancelled"] * 4
        assert p.collect(p.submit(rows(20)), timeout=60).scores.tolist() == [0.5] * 20


@pytest.mark.parametrize("function", ["waits", "blocks"])
def test_leaving_a_pipeline_with_calls_in_flight_ends_its_workers(
    functions: Callable[..., str], executions: Executions, leftovers: object, mark: str, function: str
) -> None:
    with rl.AsyncRewardPipeline(scorer=f"{functions(WAITS)}:{function}", num_workers=2, timeout=None) as p:
        p.submit(rows(10, "long", ground_truth="for ever"))
        handle = p.submit(rows(6, "kept", ground_truth="for ever"))
        wait_until(lambda: executions.counts(), 30, "some run")
        assert marked_processes(mark)
        del handle
    assert marked_processes(mark) == {}


# --- the end of the command and of a Python caller


def start(binary: str, tmp_path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([binary, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_writes_what_is_there_leaves_nothing_and_resume_goes_on(
    binary: str, functions: Callable[..., str], write: Callable[..., Path], executions: Executions, mark: str, tmp_path: Path,
    number: signal.Signals, cli: Callable[..., Outcome]
) -> None:
    text = """
        def slow(item):
            executed(item)
            time.sleep(0.03)
            return len(item["item_id"])
        """
    write("rows.jsonl", rows(200))
    command = ("score", "rows.jsonl", "--scorer", f"{functions(text)}:slow", "--num-workers", "2", "-o", "out.jsonl",
               "--threads-per-worker", "2", "--max-concurrent", "16", "--backlog-items", "32")
    process = start(binary, tmp_path, *command)
    wait_until(lambda: sum(executions.counts().values()) >= 40, 60, "some rows run")
    process.send_signal(number)
    _, err = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == 128 + number, err
    assert marked_processes(mark) == {}
    done = {r["item_id"] for r in read_rows(tmp_path / "out.jsonl") if r["status"] == "scored"}
    assert 0 < len(done) < 200
    again = cli(*command, "--resume")
    assert again.code == 0, again.err
    got = read_rows(tmp_path / "out.jsonl")
    assert [r["item_id"] for r in got] == [f"h{i}" for i in range(200)]
    assert [r["score"] for r in got] == [float(len(f"h{i}")) for i in range(200)]
    assert all(executions.counts()[name] == 1 for name in done)


def test_a_second_ctrl_c_ends_at_once_and_leaves_nothing(
    binary: str, functions: Callable[..., str], write: Callable[..., Path], executions: Executions, mark: str, tmp_path: Path
) -> None:
    write("rows.jsonl", rows(50, "long", ground_truth="for ever"))
    process = start(binary, tmp_path, "score", "rows.jsonl", "--scorer", f"{functions(WAITS)}:blocks", "--timeout", "null",
                    "-o", "out.jsonl")
    wait_until(lambda: executions.counts(), 60, "some rows run")
    process.send_signal(signal.SIGINT)
    threading.Event().wait(0.1)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    wait_until(lambda: not marked_processes(mark), 10, "nothing is left")


CALLER = """
import sys
import rewardloop as rl

p = rl.AsyncRewardPipeline(scorer=sys.argv[1], num_workers=2, timeout=None, max_concurrent=128, threads_per_worker=64)
handle = p.submit([{"item_id": f"long{i}", "response": "", "ground_truth": "for ever"} for i in range(100)])
p.collect(handle)
"""

KILLED = """
    def tracks(item):
        if os.fork() == 0:
            os.setsid()
            time.sleep(1e6)
        executed(item)
        time.sleep(1e6)

    async def tracks_async(item):
        executed(item)
        await asyncio.sleep(1e6)
    """


@pytest.mark.parametrize("function", ["tracks", "tracks_async"])
@pytest.mark.parametrize("caller", ["command", "python"])
def test_kill_9_with_100_calls_in_flight_leaves_nothing(
    binary: str, functions: Callable[..., str], write: Callable[..., Path], executions: Executions, mark: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, caller: str, function: str
) -> None:
    import sys
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    shared = set(os.listdir("/dev/shm"))
    scorer = f"{functions(KILLED)}:{function}"
    if caller == "python":
        arguments = [sys.executable, "-c", CALLER, scorer]
    else:
        path = write("rows.jsonl", rows(100, "long", ground_truth="for ever"))
        arguments = [binary, "score", str(path), "--scorer", scorer, "--timeout", "null", "--max-concurrent", "128",
                     "--threads-per-worker", "64", "--num-workers", "2", "-o", str(tmp_path / "out.jsonl")]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: len(executions.counts()) == 100, 60, "100 calls are in flight")
        assert len(marked_processes(mark)) >= 4  # the caller, the launcher, two workers; and what they forked
    finally:
        process.kill()
        process.wait()
    # One second is what is promised (bench/user_functions.py); a machine that runs other tests is slower.
    wait_until(lambda: not marked_processes(mark), 5, "nothing is left")
    assert os.listdir(temporary) == []
    assert {name for name in set(os.listdir("/dev/shm")) - shared if "rewardloop" in name} == set()


# --- the log


def test_tracebacks_reach_the_logger_with_the_item_id_and_are_bounded(
    functions: Callable[..., str], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    path = functions("""
        import logging

        def raises(item):
            print("hello from", item["item_id"])
            logging.getLogger("mine").warning("a warning of %s", item["item_id"])
            raise ValueError("bad thing " + "x" * 100_000)
        """)
    caplog.set_level("INFO", "rewardloop")
    with rl.AsyncRewardPipeline(scorer=f"{path}:raises", num_workers=1, on_error="null") as p:
        (result,) = p.collect(p.submit(rows(1, "item-")), timeout=60)
    text = caplog.text
    assert "[item-0] hello from item-0" in text
    assert "[item-0] a warning of item-0" in text
    assert "Traceback" in text and "in raises" in text and "ValueError: bad thing" in text
    assert "rewardloop _worker" not in text.replace("<", " ")  # none of our own frames
    assert len(text) < 50_000
    assert result.error is not None and "rewards.py:" in result.error.message and "in raises" in result.error.message
    out, _ = capfd.readouterr()
    assert out == ""
