"""Python functions in worker processes: rate, cost of deaths, time to the first score, and the seconds that issue 4 promises.

    .venv/bin/python bench/user_functions.py [--only rate,kills,first,promises] [--verl-python V/bin/python]

The same function judges the same rows through 2 workers, through concurrent.futures.ProcessPoolExecutor(2) and through
verl's RewardLoopWorker; a difference in a score ends the run. Rates are the best of some repetitions.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import rewardloop as rl

WORKERS = 2
BYTES_PER_TOKEN = 4

FUNCTIONS = '''
import asyncio, os, signal, time

def sync(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.endswith(ground_truth))

async def aio(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.endswith(ground_truth))

def batch(items):
    return [float(item["response"].endswith(item["ground_truth"])) for item in items]

async def waits(item):
    await asyncio.sleep(1)
    return 1.0

def blocks(item):
    time.sleep(1)
    return 1.0

def spins(item):
    while item["item_id"] == "bad":
        pass
    return 1.0

async def spins_async(item):
    await asyncio.sleep(0.01)
    while item["item_id"] == "bad":
        pass
    return 1.0

def power(item):
    return float(9**9**9 > 0) if item["item_id"] == "bad" else 1.0

def dies(item):
    if item["item_id"] == "bad":
        with open(os.environ["BENCH_TIMES"], "a") as file:
            file.write("%.6f\\n" % time.monotonic())
        os.kill(os.getpid(), signal.SIGKILL)
    return 1.0

def long_calls(item):
    with open(os.environ["BENCH_TIMES"], "a") as file:
        file.write("x\\n")
    time.sleep(1e6)
'''


def make_rows(count: int, tokens: int) -> tuple[list[dict[str, Any]], list[float]]:
    filler = "some words of an answer and the reasons for it, "
    text = (filler * (tokens * BYTES_PER_TOKEN // len(filler) + 1))[: tokens * BYTES_PER_TOKEN - 8]
    rows = [{"item_id": str(i), "data_source": "any", "response": f"{text} #### {i if i % 3 else i + 1}",
             "ground_truth": f"#### {i}"} for i in range(count)]
    return rows, [float(i % 3 != 0) for i in range(count)]


def best(repeat: int, run: Callable[[], None]) -> float:
    seconds = []
    for _ in range(repeat):
        begin = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def worker_pids() -> list[int]:
    """Of the pools of this process: children of the launchers that are its children."""
    launchers = [int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    found = []
    for launcher in launchers:
        try:
            found += [int(pid) for pid in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]
        except OSError:
            continue
    return found


def cpu_seconds(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def own_cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# --- rate


def rate_ours(path: str, function: str, rows: list[dict[str, Any]], expected: list[float], repeat: int) -> tuple[float, str]:
    manager = "batch" if function == "batch" else "naive"
    with rl.AsyncRewardPipeline(scorer=f"{path}:{function}", manager=manager, num_workers=WORKERS, backlog_items=len(rows)) as p:

        def run() -> None:
            assert p.collect(p.submit(rows), timeout=600).scores.tolist() == expected

        run()
        pids = worker_pids()
        theirs, own = cpu_seconds(pids), own_cpu_seconds()
        seconds = best(repeat, run)
        count = len(rows) * repeat
        where = (f"CPU a call: workers {(cpu_seconds(pids) - theirs) / count * 1e6:.0f} us, "
                 f"engine {(own_cpu_seconds() - own) / count * 1e6:.0f} us")
    return len(rows) / seconds, where


def call_verl_form(row: dict[str, Any]) -> float:
    score: float = sys.modules["bench_functions"].sync(row["data_source"], row["response"], row["ground_truth"], None)
    return score


def load_functions(path: str) -> None:
    import importlib.util
    spec = importlib.util.spec_from_file_location("bench_functions", path)
    assert spec and spec.loader
    sys.modules["bench_functions"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


def rate_executor(path: str, rows: list[dict[str, Any]], expected: list[float], repeat: int) -> tuple[float, float]:
    with ProcessPoolExecutor(WORKERS, initializer=load_functions, initargs=(path,)) as executor:

        def one_by_one() -> None:
            assert [future.result() for future in [executor.submit(call_verl_form, row) for row in rows]] == expected

        def chunks() -> None:
            assert list(executor.map(call_verl_form, rows, chunksize=64)) == expected

        one_by_one()
        return len(rows) / best(repeat, one_by_one), len(rows) / best(repeat, chunks)


def rate_verl(python: str, path: str, rows: list[dict[str, Any]], expected: list[float]) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        peer = Path(__file__).parent / "user_functions_verl.py"
        done = subprocess.run([python, str(peer), file.name, path, "sync"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": ""})
    if done.returncode != 0:
        raise SystemExit(f"the verl peer failed:\n{done.stderr[-3000:]}")
    reply = json.loads(done.stdout.strip().split("\n")[-1])
    assert reply["scores"] == expected, "verl scores other rows"
    return len(rows) / float(reply["seconds"])


def bench_rate(path: str, args: argparse.Namespace) -> None:
    for tokens in (94, 2048):
        count = args.rows if tokens == 94 else args.rows // 4
        rows, expected = make_rows(count, tokens)
        print(f"--- {count} rows of {tokens} tokens, {WORKERS} workers")
        rates = {}
        for function in ("sync", "aio", "batch"):
            rates[function], where = rate_ours(path, function, rows, expected, args.repeat)
            print(f"rewardloop  {function:8} {rates[function]:10,.0f} items/s   {where}")
        one, chunks = rate_executor(path, rows, expected, args.repeat)
        print(f"executor    submit   {one:10,.0f} items/s   ratio sync / submit {rates['sync'] / one:.1f}")
        print(f"executor    map 64   {chunks:10,.0f} items/s   ratio batch / map {rates['batch'] / chunks:.1f}")
        if args.verl_python:
            few = min(count, 512)
            rate = rate_verl(args.verl_python, path, rows[:few], expected[:few])
            print(f"verl        worker   {rate:10,.0f} items/s   ratio sync / verl {rates['sync'] / rate:.0f} ({few} rows)")


# --- a kill a second


def rate_with_kills(path: str, function: str, rows: list[dict[str, Any]], expected: list[float], seconds: float,
                    killing: bool) -> tuple[float, int]:
    manager = "batch" if function == "batch" else "naive"
    with rl.AsyncRewardPipeline(scorer=f"{path}:{function}", manager=manager, num_workers=WORKERS) as p:
        p.collect(p.submit(rows))
        stop = threading.Event()
        kills = 0

        def kill_each_second() -> None:
            nonlocal kills
            while not stop.wait(1.0):
                os.kill(max(worker_pids(), key=lambda pid: cpu_seconds([pid])), signal.SIGKILL)
                kills += 1

        thread = threading.Thread(target=kill_each_second)
        if killing:
            thread.start()
        begin, done = time.perf_counter(), 0
        while time.perf_counter() - begin < seconds:
            assert p.collect(p.submit(rows), timeout=60).scores.tolist() == expected
            done += len(rows)
        rate = done / (time.perf_counter() - begin)
        stop.set()
        if killing:
            thread.join()
    return rate, kills


def bench_kills(path: str, args: argparse.Namespace) -> None:
    rows, expected = make_rows(2000, 94)
    for function in ("sync", "aio", "batch"):
        rates: dict[bool, list[float]] = {False: [], True: []}
        total = 0
        for _ in range(3):  # taking turns, so that what else the machine does meets both
            for killing in (False, True):
                rate, kills = rate_with_kills(path, function, rows, expected, args.kill_seconds / 3 + 0.5, killing)
                rates[killing].append(rate)
                total += kills
        calm, disturbed = sum(rates[False]) / 3, sum(rates[True]) / 3
        print(f"{function:6} undisturbed {calm:8,.0f} items/s; a kill a second ({total}) {disturbed:8,.0f} items/s: "
              f"costs {1 - disturbed / calm:.0%} (promised: 30 %)")


# --- the first score


def bench_first(folder: str, args: argparse.Namespace) -> None:
    for name, text in (("nothing", ""), ("sympy", "import sympy\n")):
        path = Path(folder) / f"imports_{name}.py"
        path.write_text(text + "def one(item):\n    return 1.0\n")
        try:
            alone = best(3, lambda text=text: subprocess.run([sys.executable, "-c", text or "pass"], check=True, stderr=subprocess.DEVNULL))
        except subprocess.CalledProcessError:
            print(f"imports {name}: not installed for {sys.executable}")
            continue
        cold, warm = [], []
        for _ in range(3):
            begin = time.perf_counter()
            with rl.AsyncRewardPipeline(scorer=f"{path}:one", num_workers=WORKERS) as p:
                p.collect(p.submit([{"item_id": "a", "response": ""}]))
                cold.append(time.perf_counter() - begin)
                time.sleep(1.0 + alone)  # the other workers and the spare
                begin = time.perf_counter()
                p.collect(p.submit([{"item_id": "a", "response": ""}]))
                warm.append(time.perf_counter() - begin)
        print(f"imports {name:8} first score: cold {min(cold) * 1e3:7.0f} ms (the interpreter with the import alone "
              f"{alone * 1e3:.0f} ms), warm {min(warm) * 1e3:.2f} ms")


# --- what issue 4 promises in seconds


def items(count: int, *more: str) -> list[dict[str, Any]]:
    return [{"item_id": name, "response": ""} for name in [*map(str, range(count)), *more]]


def promise(what: str, seconds: float, limit: float) -> None:
    print(f"{what:64} {seconds:7.3f} s  (promised: {limit:.3f} s){'' if seconds <= limit else '  MISSED'}")


def bench_promises(path: str, folder: str, args: argparse.Namespace) -> None:
    for function, limit in (("waits", 1.1), ("blocks", 1.2)):
        with rl.AsyncRewardPipeline(scorer=f"{path}:{function}", num_workers=WORKERS) as p:
            time.sleep(0.5)  # the second worker
            begin = time.perf_counter()
            handles = [p.submit([item]) for item in items(16)]
            assert [p.collect(handle)[0].score for handle in handles] == [1.0] * 16
            promise(f"16 x 1 s one by one, {function}", time.perf_counter() - begin, limit)
    with rl.AsyncRewardPipeline(scorer=f"{path}:waits", num_workers=WORKERS, max_concurrent=256) as p:
        time.sleep(0.5)
        begin = time.perf_counter()
        assert p.collect(p.submit(items(1000)), timeout=60).scores.tolist() == [1.0] * 1000
        promise("1,000 x 1 s async, 256 in flight", time.perf_counter() - begin, 4.5)

    for function in ("spins", "spins_async", "power"):
        with rl.AsyncRewardPipeline(scorer=f"{path}:{function}", num_workers=WORKERS, timeout=1.0, on_error="null") as p:
            p.collect(p.submit(items(2)))
            results = p.collect(p.submit(items(31, "bad")), timeout=60)
            bad = results[-1]
            assert bad.status == "timeout" and results.scores[:31].tolist() == [1.0] * 31
            promise(f"a hang beyond its deadline, {function}", (bad.timing.finished - bad.timing.started) / 1e9 - 1.0, 0.2)

    times = Path(folder) / "times"
    os.environ["BENCH_TIMES"] = str(times)
    with rl.AsyncRewardPipeline(scorer=f"{path}:dies", num_workers=WORKERS, on_error="null") as p:
        time.sleep(1)
        (bad,) = p.collect(p.submit(items(0, "bad")))
        assert bad.error is not None and bad.error.class_ == "poison"
        first, second = map(float, times.read_text().split())
        promise("second run after the first death, on a warm spare", second - first, 0.2)

    times.unlink()
    program = ("import sys, rewardloop as rl\n"
               "p = rl.AsyncRewardPipeline(scorer=sys.argv[1], timeout=None, num_workers=2, threads_per_worker=64)\n"
               "p.collect(p.submit([{'item_id': str(i), 'response': ''} for i in range(100)]))\n")
    caller = subprocess.Popen([sys.executable, "-c", program, f"{path}:long_calls"],
                              env={**os.environ, "BENCH_MARK": str(os.getpid())})
    while not times.exists() or times.read_text().count("x") < 100:
        time.sleep(0.01)
    caller.kill()
    begin = time.perf_counter()
    caller.wait()
    while marked(f"BENCH_MARK={os.getpid()}"):
        time.sleep(0.001)
    promise("kill -9 of a caller with 100 calls in flight: nothing left", time.perf_counter() - begin, 1.0)


def marked(variable: str) -> bool:
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and variable.encode() in (entry / "environ").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="rate,kills,first,promises")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--kill-seconds", type=float, default=9)
    parser.add_argument("--verl-python", help="Python of a venv with verl (bench/peers/verl_reward_loop.py)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "functions.py")
        Path(path).write_text(FUNCTIONS)
        for section in args.only.split(","):
            print(f"=== {section}")
            if section == "rate":
                bench_rate(path, args)
            elif section == "kills":
                bench_kills(path, args)
            elif section == "first":
                bench_first(folder, args)
            elif section == "promises":
                bench_promises(path, folder, args)
            else:
                parser.error(f"there is no section '{section}'")


if __name__ == "__main__":
    main()
