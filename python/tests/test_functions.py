"""Functions of modules and files as scorers: they run in worker processes."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewardloop as rl

FUNCTIONS = """
import asyncio, os, time

def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return {"score": float(ground_truth in solution_str), "pid": os.getpid()}

async def judge(item):
    await asyncio.sleep(0)
    return 2.0

def seen(item):
    import sys
    return {"score": 1, "executable": sys.executable, "path": list(sys.path), "threads": os.environ["OMP_NUM_THREADS"],
            "secret": os.environ.get("MY_SECRET", ""), "gpus": os.environ.get("CUDA_VISIBLE_DEVICES"), "cwd": os.getcwd()}

def speak(item):
    print("spoken")
    return 1

def forever(item):
    while True:
        time.sleep(0.01)

class Rules:
    @staticmethod
    def one(item):
        return 1
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "rl_test_functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("rl_test_functions")
    del sys.modules["rl_test_functions"]


def rows(count: int) -> list[dict[str, Any]]:
    return [{"item_id": f"i{k}", "response": f"the answer is {k}", "ground_truth": str(k)} for k in range(count)]


def workers() -> list[str]:
    """Command lines of the launchers below this process."""
    listing = subprocess.run(["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True, check=False)
    return [line for line in listing.stdout.splitlines() if "rewardloop-launcher" in line]


def test_a_modules_function_runs_in_another_process(module: Any) -> None:
    report = rl.score(rows(4), scorer=module.compute_score)
    assert list(report.scores) == [1] * 4
    first = report.results[0]
    assert first.scorer == "rl_test_functions:compute_score" and first.scorer_version.startswith("1+")
    assert first.extra["pid"] != os.getpid()
    assert workers() == []  # they ended with the pipeline


def test_by_path_by_module_and_by_attribute(module: Any) -> None:
    for name in (f"{module.__file__}:judge", "rl_test_functions:judge"):
        assert list(rl.score(rows(2), scorer=name).scores) == [2, 2]
    assert list(rl.score(rows(2), scorer="rl_test_functions:Rules.one").scores) == [1, 1]
    assert list(rl.score(rows(2), scorer=module.Rules.one).scores) == [1, 1]


def test_a_module_that_was_loaded_from_its_path_is_named_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.py"
    file.write_text(FUNCTIONS)
    spec = importlib.util.spec_from_file_location("custom_module", file)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules["custom_module"] = loaded
    try:
        spec.loader.exec_module(loaded)
        result = rl.score(rows(1), scorer=loaded.judge).results[0]
    finally:
        del sys.modules["custom_module"]
    assert (result.scorer, result.score) == (f"{file}:judge", 2.0)


def test_workers_see_what_the_caller_sees_but_for_named_secrets_and_gpus(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", "x")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    extra = rl.score(rows(1), scorer=module.seen).results[0].extra
    assert extra["executable"] == sys.executable and extra["cwd"] == os.getcwd()
    assert [path or os.getcwd() for path in sys.path] == extra["path"]
    assert (extra["threads"], extra["secret"], extra["gpus"]) == ("1", "x", "")
    hidden = rl.score(rows(1), scorer=module.seen, hide_env="MY_*,OTHER", worker_gpus="1").results[0].extra
    assert (hidden["secret"], hidden["gpus"]) == ("", "1")


def test_an_edited_file_is_seen_by_the_next_pipeline(tmp_path: Path) -> None:
    file = tmp_path / "edited.py"
    file.write_text("def f(item):\n    return 1\n")
    before = rl.score(rows(1), scorer=f"{file}:f").results[0]
    file.write_text("def f(item):\n    return 2\n")
    after = rl.score(rows(1), scorer=f"{file}:f").results[0]
    assert (before.score, after.score) == (1, 2) and before.scorer_version != after.scorer_version


def test_import_errors_are_one_error_before_anything_is_scored(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("import no_such_module_here\n\ndef f(item):\n    return 1\n")
    with pytest.raises(rl.ArgumentError) as caught:
        rl.AsyncRewardPipeline(scorer=f"{file}:f")
    text = str(caught.value)
    assert "no_such_module_here" in text and "broken.py" in text and "line 1" in text and sys.executable in text
    with pytest.raises(rl.ArgumentError, match="no module 'rl_no_such_module'"):
        rl.AsyncRewardPipeline(scorer="rl_no_such_module:f")
    with pytest.raises(rl.ArgumentError, match="has no 'juge'.*did you mean 'judge'"):
        (tmp_path / "names.py").write_text(FUNCTIONS)
        rl.AsyncRewardPipeline(scorer=f"{tmp_path}/names.py:juge")
    assert workers() == []


def test_an_interpreter_that_is_not_there_names_the_flag(module: Any) -> None:
    with pytest.raises(rl.Error, match="no Python interpreter '/no/python'.*--python"):
        rl.AsyncRewardPipeline(scorer=module.judge, python="/no/python")


def test_collect_time_out_leaves_the_handle_valid(module: Any) -> None:
    with rl.AsyncRewardPipeline(scorer=module.forever, timeout=None, num_workers=1, on_error="null") as pipeline:
        handle = pipeline.submit(rows(1))
        with pytest.raises(TimeoutError):
            pipeline.collect(handle, timeout=0.05)
        pipeline.cancel(handle)
        assert pipeline.collect(handle, 30)[0].status == "cancelled"
    assert workers() == []


def test_many_threads_share_a_pipeline(module: Any) -> None:
    with rl.AsyncRewardPipeline(scorer=module.compute_score, num_workers=2) as pipeline:
        scores: list[float | None] = []

        def submit() -> None:
            for row in rows(10):
                scores.append(pipeline.collect(pipeline.submit([row]))[0].score)

        threads = [threading.Thread(target=submit) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert scores == [1.0] * 80


def test_ctrl_c_ends_the_wait_for_an_import(tmp_path: Path) -> None:
    marker = tmp_path / "importing"
    (tmp_path / "slow_import.py").write_text(
        f"import time\nopen({str(marker)!r}, 'w').close()\ntime.sleep(600)\ndef f(item):\n    return 1\n")
    script = f"""
        import os, signal, threading, time
        import rewardloop as rl
        def interrupt():
            while not os.path.exists({str(marker)!r}):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt, daemon=True).start()
        try:
            rl.AsyncRewardPipeline(scorer={str(tmp_path / "slow_import.py")!r} + ":f")
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "interrupted\n"), done.stderr


def test_prints_and_tracebacks_reach_stderr_with_the_items_id(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(textwrap.dedent("""
        import os, sys
        def noisy(item):
            print("hello", item["ground_truth"])
            if item["ground_truth"] == "1":
                raise LookupError("no such thing")
            return 1
    """))
    script = f"""
        import rewardloop as rl
        items = [{{"item_id": f"row-{{k}}", "response": "x", "ground_truth": str(k)}} for k in range(2)]
        report = rl.score(items, scorer={str(tmp_path / "noisy.py")!r} + ":noisy", on_error="null")
        print(report.results[1].error.message)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0 and done.stdout.startswith("LookupError: no such thing (")
    assert "noisy.py:6 in noisy" in done.stdout
    assert "[row-0] hello 0\n" in done.stderr and "[row-1] Traceback (most recent call last):" in done.stderr


def test_output_goes_to_its_logger_where_one_is_set_up(module: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "rewardloop.output"):
        rl.score(rows(1), scorer=module.speak)
    assert [(record.name, record.getMessage()) for record in caplog.records] == [("rewardloop.output", "[i0] spoken")]


def test_a_fork_leaves_the_parents_workers_alone(module: Any) -> None:
    script = f"""
        import os, sys
        sys.path.insert(0, {os.path.dirname(module.__file__)!r})
        import rewardloop as rl
        import rl_test_functions
        pipeline = rl.AsyncRewardPipeline(scorer=rl_test_functions.judge, num_workers=1)
        pid = os.fork()
        if pid == 0:
            try:
                pipeline.submit([{{"response": "x"}}])
            except rl.ForkedError:
                del pipeline
                own = rl.score([{{"response": "x"}}], scorer=rl_test_functions.judge, engine=rl.Engine(threads=1))
                os._exit(0 if own.results[0].score == 2.0 else 3)
            os._exit(2)
        print(os.waitpid(pid, 0)[1], pipeline.collect(pipeline.submit([{{"response": "x"}}]))[0].score)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "0 2.0\n"), done.stderr


def test_a_pipeline_left_open_ends_its_workers_with_the_interpreter(module: Any) -> None:
    script = f"""
        import sys
        sys.path.insert(0, {os.path.dirname(module.__file__)!r})
        import rewardloop as rl
        import rl_test_functions
        pipeline = rl.AsyncRewardPipeline(scorer=rl_test_functions.forever, timeout=None)
        handle = pipeline.submit([{{"response": "x"}}] * 3)
        print("open")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "open\n", "")


def test_the_manager_remote_runs_a_function_whatever_the_data_source(module: Any) -> None:
    items = [{**row, "data_source": "openai/gsm8k"} for row in rows(3)]
    report = rl.score(items, manager="remote", manager_args={"function": "rl_test_functions:judge", "num_workers": 1})
    assert list(report.scores) == [2, 2, 2] and report.results[0].scorer == "rl_test_functions:judge"
    with pytest.raises(rl.ArgumentError, match="names no Python function"):
        rl.score(items, manager="remote", manager_args={"function": "gsm8k"})


def test_an_items_random_numbers_do_not_depend_on_who_shares_its_batch(tmp_path: Path) -> None:
    (tmp_path / "draws.py").write_text(
        "import random\ndef one(item):\n    return {'score': random.random(), 'seed': item['seed']}\n"
        "def many(items):\n    return [{'score': 0, 'seed': item['seed']} for item in items]\n")
    naive = {r.item_id: (r.score, r.extra["seed"]) for r in rl.score(rows(6), scorer=f"{tmp_path}/draws.py:one", seed=7).results}
    assert len(set(naive.values())) == 6
    for size in (2, 6):
        batched = rl.score(rows(6)[::-1], scorer=f"{tmp_path}/draws.py:one", seed=7, manager="batch", manager_args={"max_batch": size})
        assert {r.item_id: (r.score, r.extra["seed"]) for r in batched.results} == naive
    seeds = rl.score(rows(6), scorer=f"{tmp_path}/draws.py:many", seed=7, manager="batch").results
    assert {r.item_id: r.extra["seed"] for r in seeds} == {item_id: seed for item_id, (_, seed) in naive.items()}
    other = rl.score(rows(6), scorer=f"{tmp_path}/draws.py:one", seed=8).results
    assert not {r.score for r in other} & {score for score, _ in naive.values()}
