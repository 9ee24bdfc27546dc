"""What user code may do inside a worker, and what its neighbours see of that. In the worker alone: no engine, no build."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from worker_harness import CALL, CALLS, Worker, WorkerEnded, payload

CALM = {"item_id": "calm"}


def test_must_hold_4_an_engine_of_another_version_is_refused_by_name_before_anything_is_loaded(tmp_path: Path) -> None:
    loaded = tmp_path / "loaded"
    with Worker(f"open({str(loaded)!r}, 'w')\ndef fn(item):\n    return 1\n", protocol=2) as one:
        assert one.failed and one.info["message"] == "this worker speaks protocol 1, the engine 2"
    assert not loaded.exists()


def test_prints_carry_their_call_and_nothing_else_breaks() -> None:
    text = """
import sys, logging
logging.basicConfig(level=logging.INFO)
sys.stdout.reconfigure(line_buffering=True)
def fn(item):
    print("one\\ntwo"); print("three", end="")
    sys.stderr.write("four\\n")
    sys.stdout.buffer.write(b"five\\n"); sys.stdout.flush(); sys.stdout.close()
    logging.getLogger("x").info("six")
    print("s\\udc80x", sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.name)
    print("y" * 100_000)
    return 1
"""
    with Worker(text) as one:
        call = one.start()
        assert one.finish(call)[0]["score"] == 1
        assert all(who == call for who, _ in one.texts)
        said = [line for _, line in one.texts]
        assert said[:2] == ["one", "two"]
        assert "threefive" in said and "four" in said and "INFO:x:six" in said
        assert any("False utf-8 <stdout>" in line for line in said)
        assert max(map(len, said)) <= 8192


@pytest.mark.parametrize("prefix", ["", "async "])
def test_a_reply_does_not_wait_for_the_call_behind_it(prefix: str) -> None:
    text = prefix + """def fn(item):
    while item["item_id"] == "long":
        pass
    return 0.5
"""
    with Worker(text, threads=1) as one:
        for _ in range(20):  # the replies are together in the outbox, or each was sent at once, as the clock will have it
            for call in one.start_together({"item_id": "a"}, {"item_id": "b"}):
                assert one.finish(call)[0]["score"] == 0.5
        *quick, long = one.start_together({"item_id": "a"}, {"item_id": "b"}, {"item_id": "c"}, {"item_id": "long"})
        for call in quick:
            assert one.finish(call)[0]["score"] == 0.5
        assert long not in one.replies


def test_texts_beside_the_json_are_those_of_their_items() -> None:
    with Worker("def fn(items):\n    return [{'score': 1, 'seen': [i['item_id'], i['response']]} for i in items]\n") as one:
        body = payload([{"item_id": "a", "text_bytes": 2}, {"item_id": "b", "response": "in JSON"}, {"item_id": "c"},
                        {"item_id": "d", "text_bytes": 0}, {"item_id": "e", "text_bytes": 4}], "\u00e9".encode() + b"x\xff\xe2\x82")
        one.send(CALLS, CALL.pack(77, 0, 5, 1, len(body)) + body)
        seen = [verdict["extra"]["seen"] for verdict in one.finish(77)]
        # Invalid UTF-8 is replaced as the engine's own output does it: one U+FFFD for each maximal invalid part.
        assert seen == [["a", "\u00e9"], ["b", "in JSON"], ["c", None], ["d", ""], ["e", "x\ufffd\ufffd"]]


def test_frames_of_any_size_arrive_whole() -> None:
    with Worker("def fn(item):\n    return {'score': len(item['response']), 'end': item['response'][-1:]}\n", threads=1) as one:
        for size in (1, (1 << 18) - 100, 1 << 18, (1 << 18) + 1, 3 << 20, 5):
            calls = one.start_together(*[{"item_id": str(i), "response": "x" * (size - 1) + str(i)} for i in range(3)])
            for i, call in enumerate(calls):
                verdict = one.finish(call)[0]
                assert (verdict["score"], verdict["extra"]["end"]) == (size, str(i))


def test_many_large_replies_fit_into_frames() -> None:
    # The engine takes frames of up to 64 MiB.
    text = "async def fn(item):\n    return {'score': 1, 'text': 'x' * 3_000_000}\n"
    with Worker(text) as one:
        for call in one.start_together(*[{"item_id": str(i)} for i in range(30)]):
            assert len(one.finish(call)[0]["extra"]["text"]) == 3_000_000
        assert one.largest_frame < 4 << 20


def test_what_a_call_prints_is_bounded() -> None:
    text = """
def fn(item):
    for i in range(20_000): print(item["item_id"], "x" * 100)
    return 1
"""
    with Worker(text) as one:
        for name in ("first", "second"):
            assert one.one(item_id=name)["score"] == 1
            said = [line for _, line in one.texts]
            one.texts.clear()
            assert said[0].startswith(name)
            assert 60_000 < sum(map(len, said)) < 70_000
            assert [line.endswith("(it prints too much: the rest is left out)") for line in said].count(True) == 1


def test_what_a_file_prints_when_it_is_imported_is_nobodys() -> None:
    with Worker("import sys\nprint('hello', end='')\nprint('err', file=sys.stderr)\ndef fn(item): return 1\n") as one:
        assert sorted(one.texts) == [[0, "err"], [0, "hello"]]


@pytest.mark.parametrize(("text", "message"), [
    ("import sys\nsys.exit('no licence')", "SystemExit: no licence"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("1 / 0", "ZeroDivisionError"),
    ("def fn(item:\n", "SyntaxError"),
    ("import no_such_module_x", "No module named 'no_such_module_x'"),
    ("x = 1", "has no 'fn'; it defines no function"),
    ("def fun(item): pass", "it has fun"),
    ("fn = 3", "is a int, not a function"),
    ("def fn(a, b): pass", "(a, b), fit no form"),
    ("\0", "null bytes"),
    ("class Bad(Exception):\n  def __str__(self): raise SystemExit(1)\nraise Bad", "cannot be imported"),
])
def test_files_that_cannot_be_loaded_say_why(text: str, message: str) -> None:
    with Worker(text) as one:
        assert one.failed
        assert message in one.info["message"], one.info


def test_scorer_arguments_count_before_the_form_is_told() -> None:
    text = """
def fn(item, weight): return weight
def verl(data_source, solution_str, ground_truth, extra_info, weight): return weight
def verls(solution_strs, ground_truths, data_sources, extra_infos): return [1.0] * len(solution_strs)
"""
    for attribute in ("fn", "verl"):
        with Worker(text, attribute, arguments={"weight": 0.5}) as one:
            assert one.one()["score"] == 0.5
    with Worker(text, "verls") as one:
        assert one.one()["score"] == 1
    with Worker(text, "verl") as one:
        assert one.failed and "needs 'weight'" in one.info["message"] and "weight=" in one.info["hint"]


def test_modules_of_files_are_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "sibling.py").write_text("VALUE = 0.5\n")
    text = """
from __future__ import annotations
import dataclasses, pickle, inspect, sys, typing
import sibling
@dataclasses.dataclass
class Row:
    value: float
    names: typing.ClassVar[list[str]] = []
def fn(item):
    assert sys.modules[__name__].Row is Row
    assert pickle.loads(pickle.dumps(Row(sibling.VALUE))) == Row(0.5)
    assert __file__.endswith("rewards.py") and __name__ == "rewards" and __spec__ is not None
    assert "def fn" in inspect.getsource(fn)
    return sibling.VALUE
if __name__ == "__main__":
    raise RuntimeError("not a script")
"""
    path = tmp_path / "rewards.py"
    path.write_text(text)
    with Worker(text, path=str(path)) as one:
        assert one.one()["score"] == 0.5


def test_file_with_the_name_of_a_standard_module(tmp_path: Path) -> None:
    text = "import json\ndef fn(item): return json.loads('0.5')\n"
    path = tmp_path / "random.py"
    path.write_text(text)
    with Worker(text, path=str(path)) as one:
        assert one.one()["score"] == 0.5


def test_function_of_a_package(tmp_path: Path) -> None:
    package = tmp_path / "pkg_of_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "other.py").write_text("VALUE = 0.25\n")
    (package / "mod.py").write_text("from .other import VALUE\nclass C:\n  @staticmethod\n  def fn(item): return VALUE\n")
    with Worker(None, "C.fn", module="pkg_of_test.mod", sys_path=[str(tmp_path)]) as one:
        assert one.info["file"] == str(package / "mod.py") and len(one.info["digest"]) == 12
        assert one.one()["score"] == 0.25
    with Worker(None, module="pkg_of_test.mid", sys_path=[str(tmp_path)]) as missing:
        assert missing.failed and "there is no module 'pkg_of_test.mid'" in missing.info["message"]


def test_callables_of_all_kinds() -> None:
    text = """
import functools
def plain(item, weight=1.0): return weight
async def later(item, weight=1.0): return weight
half = functools.partial(plain, weight=0.5)
later_half = functools.partial(later, weight=0.5)
def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
def blind(function):
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper
decorated = logged(plain)
decorated_later = logged(later)
@blind
def verl(data_source, solution_str, ground_truth, extra_info=None): return float(solution_str)
class Reward:
    def __call__(self, item): return 0.25
    async def later(self, item): return 0.75
class Later:
    async def __call__(self, item): return 0.125
reward = Reward()
bound = Reward().later
later_object = Later()
lambda_ = lambda item: 4
def positional(item, /): return 5
"""
    expected = {"half": 0.5, "later_half": 0.5, "decorated": 1, "decorated_later": 1, "verl": 2, "reward": 0.25, "bound": 0.75,
                "later_object": 0.125, "lambda_": 4, "positional": 5}
    for attribute, score in expected.items():
        with Worker(text, attribute) as one:
            assert not one.failed, one.info
            assert one.one(response="2").get("score") == score, attribute
            assert one.info["async"] == (attribute in ("later_half", "bound", "later_object")), attribute


def calm_goes_on(one: Worker) -> None:
    assert one.ask(CALM)[0]["score"] == 1


@pytest.mark.parametrize("nasty", [
    "sys.exit(3)",
    "await asyncio.gather(exits())",
    "await asyncio.wait_for(exits(), 5)",
    "asyncio.get_running_loop().call_soon(sys.exit, 4); await asyncio.sleep(0.05)",
    "asyncio.create_task(exits()); await asyncio.sleep(0.05)",
    "asyncio.create_task(forever())",
    "await asyncio.to_thread(sys.exit, 3)",
    "asyncio.get_running_loop().set_exception_handler(None); asyncio.create_task(fails()); await asyncio.sleep(0.05)",
    "sys.stdout = sys.stderr = None",
    "sys.stdout.close(); sys.stderr.close()",
    "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "os.close(3)",
    "subprocess.run(['true'], check=True)",
    "os.system('true')",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "random.seed(1)",
    "os.chdir('/')",
])
def test_async_neighbours_do_not_suffer(nasty: str) -> None:
    text = f"""
import asyncio, os, random, signal, subprocess, sys, threading, time
async def exits(): sys.exit(3)
async def fails(): raise ValueError("x")
async def forever():
    while True: await asyncio.sleep(0.01)
async def fn(item):
    if item["item_id"] == "calm":
        await asyncio.sleep(0.01)
        return 1
    if item["item_id"] == "slow":
        await asyncio.sleep(0.3)
        return 0.5
    {nasty}
    return 2
"""
    with Worker(text) as one:
        slow = one.start({"item_id": "slow"})
        verdict = one.ask({"item_id": "nasty"})[0]
        assert verdict["status"] in ("scored", "error")
        calm_goes_on(one)
        assert one.finish(slow)[0]["score"] == 0.5


def test_event_loop_whose_descriptors_are_closed_ends_its_worker() -> None:
    with Worker("import os\nasync def fn(item):\n    os.closerange(3, 100)\n    return 1\n") as one:
        assert one.one()["score"] == 1  # what was returned counts
        with pytest.raises(WorkerEnded):
            one.one()


@pytest.mark.parametrize("nasty", [
    "sys.exit(3)",
    "sys.stdout = sys.stderr = None",
    "threading.Thread(target=time.sleep, args=(1000,)).start()",
    "threading.Thread(target=sys.exit, args=(3,)).start()",
    "os.close(3)",
    "subprocess.run(['true'], check=True)",
    "assert subprocess.run([sys.executable, '-c', 'print(1)'], stdout=subprocess.PIPE).stdout == b'1\\n'",
    "raise MemoryError",
    "sys.setrecursionlimit(150); f = lambda: f(); f()",
    "import multiprocessing as m; p = m.get_context('fork').Process(target=print, args=(1,)); p.start(); p.join(); assert p.exitcode == 0",
    "import multiprocessing as m; q = m.get_context('spawn').Pool(1); assert q.map(abs, [-1]) == [1]",
    "import concurrent.futures as c; assert c.ThreadPoolExecutor(2).submit(abs, -1).result() == 1",
    "asyncio.run(asyncio.sleep(0))",
    "contextvars.ContextVar('x').set(1)",
])
def test_blocking_neighbours_do_not_suffer(nasty: str) -> None:
    text = f"""
import asyncio, contextvars, os, subprocess, sys, threading, time
def fn(item):
    if item["item_id"] == "calm": return 1
    if item["item_id"] == "slow":
        time.sleep(0.3)
        return 0.5
    {nasty}
    return 2
"""
    with Worker(text) as one:
        slow = one.start({"item_id": "slow"})
        verdict = one.ask({"item_id": "nasty"})[0]
        if "exit(3)" in nasty and "Thread" not in nasty:
            assert verdict["message"].startswith("SystemExit: 3")
        elif "assert" in nasty or "run(" in nasty:
            assert verdict.get("score") == 2, verdict
        calm_goes_on(one)
        assert one.finish(slow)[0]["score"] == 0.5


@pytest.mark.parametrize("prefix", ["", "async "])
def test_what_a_forked_child_does_is_nobodys_answer(prefix: str) -> None:
    text = f"""
import os
{prefix}def fn(item):
    if item["item_id"] == "calm": return 1
    if os.fork() == 0:
        if item["item_id"] == "raises": raise ValueError
        return 7
    return 2
"""
    with Worker(text) as one:
        assert one.ask({"item_id": "fork"})[0]["score"] == 2
        assert one.ask({"item_id": "raises"})[0]["score"] == 2
        calm_goes_on(one)


def test_alarm_works_where_there_is_one_thread() -> None:
    text = """
import signal, time
def late(*_): raise TimeoutError("by alarm")
def fn(item):
    if item["item_id"] == "calm": return 1
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    if item["item_id"] == "leaves": return 1  # the alarm too
    time.sleep(30)
"""
    with Worker(text, threads=1) as one:
        assert one.ask({"item_id": "alarm"})[0]["message"].startswith("TimeoutError: by alarm")
        for _ in range(5):
            assert one.ask({"item_id": "leaves"})[0]["score"] == 1
            calm_goes_on(one)
    with Worker(text, threads=4) as several:
        for _ in range(8):  # on none of them
            assert "signal only works in main thread" in several.ask({"item_id": "alarm"})[0]["message"]


def test_memory_limit_is_an_error_of_the_call_and_the_worker_lives_on() -> None:
    text = """
def fn(item):
    if item["item_id"] == "calm": return 1
    return len(bytearray(1 << 30))
"""
    for prefix in ("", "async "):
        with Worker(text.replace("def fn", prefix + "def fn"), memory=400 << 20) as one:
            for _ in range(3):
                verdict = one.ask({"item_id": "big"})[0]
                assert (verdict["status"], verdict["class"]) == ("error", "memory_limit"), verdict
                calm_goes_on(one)


def test_c_stack_overflow_is_a_death() -> None:
    text = """
import ctypes
def fn(item): ctypes.string_at(0)
"""
    with Worker(text) as one:
        with pytest.raises(WorkerEnded) as ended:
            one.one()
        assert ended.value.args[0] < 0


def test_cancelled_coroutines_end_and_may_clean_up() -> None:
    text = """
import asyncio
cleaned = []
async def fn(item):
    if item["item_id"] == "ask": return len(cleaned)
    try:
        await asyncio.sleep(1000)
    finally:
        cleaned.append(1)
"""
    with Worker(text) as one:
        call = one.start({"item_id": "long"})
        one.wait_for(lambda: one.words(8 + 4 * call, 1)[0] == call)
        one.cancel(call)
        assert one.finish(call)[0]["class"] == "exception"
        assert one.ask({"item_id": "ask"})[0]["score"] == 1


def test_board_names_the_coroutine_that_steps_and_the_heart_beats() -> None:
    text = """
import asyncio
async def inner():
    while True: pass
async def fn(item):
    if item["item_id"] == "spin": await asyncio.create_task(inner())
    await asyncio.sleep(1000)
"""
    with Worker(text) as one:
        calls = [one.start({"item_id": "sleep"}) for _ in range(3)]
        spin = one.start({"item_id": "spin"})
        one.wait_for(lambda: one.words(1, 1)[0] == spin)  # a task that the call has made is the call's
        assert one.words(2, 1)[0] > 0
        beat = one.words(0, 1)[0]
        one.wait_for(lambda: one.words(0, 1)[0] > beat)
        assert [one.words(8 + 4 * call, 1)[0] for call in calls] == calls


def test_spinning_coroutine_is_interrupted_and_the_others_go_on() -> None:
    text = """
import asyncio
async def inner():
    while True:
        try:
            while True: pass
        except Exception: pass
async def fn(item):
    if item["item_id"] == "spin": await inner()
    if item["item_id"] == "task": await asyncio.create_task(inner())
    await asyncio.sleep(0.2)
    return 1
"""
    with Worker(text) as one:
        for name in ("spin", "task"):
            calm = [one.start(CALM) for _ in range(3)]
            spin = one.start({"item_id": name})
            later = one.start(CALM)
            one.wait_for(lambda: one.words(1, 1)[0] == spin)
            one.interrupt(calm[0])  # it does not step: nothing happens
            one.wait_for(lambda: one.words(3, 1)[0] == 0)
            assert one.words(1, 1)[0] == spin
            one.interrupt(spin)
            assert "CallTimeout (" in one.finish(spin)[0]["message"]
            for call in [*calm, later]:
                assert one.finish(call)[0]["score"] == 1


def test_random_numbers_belong_to_the_item() -> None:
    text = """
import asyncio, random
async def fn(item):
    await asyncio.sleep(random.random() / 100)
    return {"score": 1, "numbers": [random.random(), random.randint(0, 10**9), random.choice("abcdef"), random.gauss(0, 1)]}
def blocking(item):
    return {"score": 1, "numbers": [random.random(), random.sample(range(100), 5), random.getrandbits(64)]}
"""
    for attribute in ("fn", "blocking"):
        with Worker(text, attribute) as one:
            first = [one.ask({"item_id": str(i)}, seed=i)[0]["extra"]["numbers"] for i in range(8)]
            calls = [one.start({"item_id": str(i)}, seed=i) for i in range(8)]
            assert [one.finish(call)[0]["extra"]["numbers"] for call in calls] == first
            assert len({str(numbers) for numbers in first}) == 8


def test_large_calls_and_many_replies_pass() -> None:
    text = "def fn(item): return {'score': len(item['response']), 'reason': 'r' * 2_000_000}\n"
    with Worker(text, threads=4) as one:
        calls = [one.start({"item_id": "a", "response": "x" * (10 << 20)}) for _ in range(4)]
        for call in calls:
            verdict = one.finish(call)[0]
            assert verdict["score"] == 10 << 20 and len(verdict["reason"]) == 2_000_000


def test_sources_in_other_encodings() -> None:
    raw = "# -*- coding: latin-1 -*-\ndef fn(item): return {'score': len('é'), 'word': 'é'}\n".encode("latin-1")
    with Worker(raw.decode("utf-8", "surrogateescape")) as one:
        assert one.one() == {"status": "scored", "score": 1.0, "extra": {"word": "é"}}
    with Worker("\ufeffdef fn(item): return 1\n") as one:
        assert one.one()["score"] == 1


def other_pythons() -> list[str]:
    found = []
    for minor in (9, 10, 12, 13):
        roots = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/3.{minor}.*/bin/python"))
        path = shutil.which(f"python3.{minor}") if not roots else str(roots[-1])
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            found.append(path)
    return found


@pytest.mark.parametrize("python", other_pythons() or [pytest.param("", marks=pytest.mark.skip(reason="no other Python"))])
def test_other_versions_of_python(python: str) -> None:
    text = """
import asyncio, random, sys
def fn(item):
    print("said")
    if item["item_id"] == "raise": raise ValueError("why")
    return {"score": 0.5, "numbers": [random.random(), random.randint(1, 9)]}
async def later(item):
    await asyncio.gather(asyncio.sleep(0.001), asyncio.create_task(asyncio.sleep(0.002)))
    if item["item_id"] == "raise": sys.exit(3)
    return 0.5
def trl(prompts, completions, **kwargs): return [1.0 for _ in completions]
def slime(args, sample, **kwargs): return sample.label
"""
    answers: list[Any] = []
    for attribute in ("fn", "later", "trl", "slime"):
        with Worker(text, attribute, python=python) as one:
            assert not one.failed, one.info
            answers += [one.one(ground_truth=0.5), one.one(item_id="raise", ground_truth=0.5)]
    assert answers[0]["score"] == 0.5 and answers[1]["message"].startswith("ValueError: why (/no/rewards.py:5 in fn)")
    assert answers[2]["score"] == 0.5 and answers[3]["message"].startswith("SystemExit: 3")
    assert [a["score"] for a in answers[4:]] == [1.0, 1.0, 0.5, 0.5]
