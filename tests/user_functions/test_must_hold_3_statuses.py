"""Must hold 3: every status that a function can cause. None of them yields a score, and the calls beside them in the same
worker have theirs. Expected statuses and classes are those of docs/statuses.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from uf_helpers import Executions, Outcome, row, rows

import rewardloop as rl

# One call of each case in the same worker as healthy calls; "sync" and "async" run the same bodies.
FUNCTIONS = """
import decimal, fractions, json, sys

class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")

class Odd:
    pass

def value(item):
    case = item["extra_info"].get("case")
    if case is None: return 0.25
    if case == "raises": raise ValueError("bad thing")
    if case == "raises_key": return item["extra_info"]["question"]
    if case == "raises_unprintable": raise Unprintable()
    if case == "raises_base": raise BaseException("no Exception")
    if case == "raises_interrupt": raise KeyboardInterrupt
    if case == "system_exit": raise SystemExit(3)
    if case == "sys_exit": sys.exit("enough")
    if case == "recursion": return value(item)
    if case == "nan": return float("nan")
    if case == "inf": return float("inf")
    if case == "minus_inf": return float("-inf")
    if case == "huge_int": return 10**400
    if case == "text": return "1.0"
    if case == "bytes": return b"1"
    if case == "none": return None
    if case == "no_score_key": return {"acc": 1.0}
    if case == "empty_mapping": return {}
    if case == "score_none": return {"score": None}
    if case == "score_text": return {"score": "high"}
    if case == "score_nan": return {"score": float("nan")}
    if case == "component_inf": return {"score": 1.0, "components": {"length": float("inf")}}
    if case == "list": return [1.0]
    if case == "object": return Odd()
    if case == "extra_object": return {"score": 1.0, "odd": Odd()}
    if case == "extra_lock": return {"score": 1.0, "odd": threading.Lock()}
    if case == "extra_cycle":
        cycle = {"score": 1.0}
        cycle["self"] = cycle
        return cycle
    if case == "ten_mb": return {"score": 1.0, "text": "x" * 10_000_000}
    if case == "ten_mb_score": return "x" * 10_000_000
    if case == "generator": return (x for x in [1.0])
    raise AssertionError(case)

def sync(item):
    time.sleep(0.001)
    return value(item)

async def aio(item):
    await asyncio.sleep(0.001)
    return value(item)
"""

BAD: dict[str, tuple[str, str, str]] = {
    "raises": ("error", "exception", "ValueError: bad thing"),
    "raises_key": ("error", "exception", "KeyError: 'question'"),
    "raises_unprintable": ("error", "exception", "Unprintable"),
    "raises_base": ("error", "exception", "BaseException: no Exception"),
    "raises_interrupt": ("error", "exception", "KeyboardInterrupt"),
    "system_exit": ("error", "exception", "SystemExit: 3"),
    "sys_exit": ("error", "exception", "SystemExit: enough"),
    "recursion": ("error", "exception", "RecursionError"),
    "nan": ("error", "non_finite", "nan"),
    "inf": ("error", "non_finite", "inf"),
    "minus_inf": ("error", "non_finite", "-inf"),
    "huge_int": ("error", "non_finite", "inf"),
    "text": ("error", "bad_return", "str"),
    "bytes": ("error", "bad_return", "bytes"),
    "none": ("error", "no_score", "None"),
    "no_score_key": ("error", "bad_return", "'acc'"),
    "empty_mapping": ("error", "bad_return", "'score'"),
    "score_none": ("error", "no_score", "None"),
    "score_text": ("error", "bad_return", "str"),
    "score_nan": ("error", "non_finite", "nan"),
    "component_inf": ("error", "bad_return", "length"),
    "list": ("error", "bad_return", "list"),
    "object": ("error", "bad_return", "Odd"),
    "extra_object": ("error", "bad_return", "Odd"),
    "extra_lock": ("error", "bad_return", "lock"),
    "extra_cycle": ("error", "bad_return", "Circular"),
    "ten_mb": ("error", "bad_return", "limit"),
    "ten_mb_score": ("error", "bad_return", "str"),
    "generator": ("error", "bad_return", "generator"),
}

_seen: dict[str, dict[str, rl.RewardResult]] = {}


@pytest.fixture
def results(functions: Callable[..., str], executions: Executions, request: pytest.FixtureRequest) -> dict[str, rl.RewardResult]:
    """Results of one run of all cases between healthy items, by item id."""
    kind: str = request.getfixturevalue("kind")
    if kind not in _seen:
        items: list[dict[str, Any]] = []
        for case in BAD:
            items += [*rows(4, f"before {case} "), row(case, extra_info={"case": case}), *rows(4, f"after {case} ")]
        with rl.AsyncRewardPipeline(scorer=f"{functions(FUNCTIONS)}:{kind}", num_workers=1, on_error="null") as p:
            _seen[kind] = {r.item_id: r for r in p.collect(p.submit(items), timeout=60)}
    return _seen[kind]


@pytest.mark.parametrize("kind", ["sync", "aio"])
@pytest.mark.parametrize("case", BAD)
def test_status_of(results: dict[str, rl.RewardResult], kind: str, case: str) -> None:
    result = results[case]
    status, error_class, text = BAD[case]
    assert result.error is not None
    assert (result.status, result.error.class_, result.score) == (status, error_class, None)
    assert text in result.error.message
    if error_class != "exception":
        assert f":{kind}" in result.error.message  # says which function
    assert len(result.error.message) < 5000


@pytest.mark.parametrize("kind", ["sync", "aio"])
def test_the_neighbours_have_their_scores(results: dict[str, rl.RewardResult], kind: str) -> None:
    neighbours = {name: r.score for name, r in results.items() if name not in BAD}
    assert len(neighbours) == 8 * len(BAD)
    assert set(neighbours.values()) == {0.25}


NUMBERS = """
    import decimal, fractions, enum

    class Level(enum.IntEnum):
        HIGH = 2

    class Tensor:  # what NumPy and torch offer
        def __init__(self, value): self.value = value
        def __float__(self): return float(self.value)
        def tolist(self): return self.value

    VALUES = {"int": 1, "bool": True, "decimal": decimal.Decimal("0.5"), "fraction": fractions.Fraction(1, 4),
              "enum": Level.HIGH, "tensor": Tensor(0.75), "pair": (0.5, {"acc": 1}), "mapping": {"score": 0.5, "acc": True},
              "minus_zero": -0.0, "tiny": 5e-324}

    def numbers(item):
        return VALUES[item["item_id"]]
    """


def test_all_kinds_of_numbers_are_scores(functions: Callable[..., str]) -> None:
    expected = {"int": 1.0, "bool": 1.0, "decimal": 0.5, "fraction": 0.25, "enum": 2.0, "tensor": 0.75, "pair": 0.5,
                "mapping": 0.5, "minus_zero": 0.0, "tiny": 5e-324}
    with rl.AsyncRewardPipeline(scorer=f"{functions(NUMBERS)}:numbers", num_workers=1) as p:
        got = p.collect(p.submit([row(name) for name in expected]), timeout=60)
    assert {r.item_id: r.score for r in got} == expected
    extra = {r.item_id: r.extra["acc"] for r in got}
    assert (extra["pair"], extra["mapping"], extra["int"]) == (1, True, None)


def test_reason_extracted_and_components_reach_the_result(functions: Callable[..., str]) -> None:
    path = functions("""
        def judged(item):
            return {"score": 0.5, "reason": "half", "extracted": "42", "components": {"format": 1, "answer": 0.25}, "n": [1]}
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:judged", num_workers=1) as p:
        (result,) = p.collect(p.submit(rows(1)), timeout=60)
    assert (result.score, result.reason, result.extracted) == (0.5, "half", "42")
    assert result.components == {"format": 1.0, "answer": 0.25}
    assert result.extra == {"n": [1]}


# What ends the process, or tries to: (body, status, error class, part of the message)
DEATHS = {
    "_exit": ("os._exit(3)", "poison", "exit code 3"),
    "kill": ("os.kill(os.getpid(), 9)", "poison", "signal 9"),
    "segfault": ("import ctypes; ctypes.string_at(0)", "poison", "signal 11"),
    "abort": ("os.abort()", "poison", "signal 6"),
}


@pytest.mark.parametrize("death", DEATHS)
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_death_of_the_worker_is_poison_and_the_neighbours_run_again(functions: Callable[..., str], death: str, kind: str) -> None:
    body, error_class, text = DEATHS[death]
    path = functions(f"""
        import faulthandler
        faulthandler.disable()

        {kind} dies(item):
            if item["item_id"] == "bad0":
                {body}
            return 0.25
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:dies", num_workers=1, on_error="null") as p:
        got = p.collect(p.submit([*rows(10), *rows(1, "bad"), *rows(10, "after")]), timeout=60)
    bad = next(r for r in got if r.item_id == "bad0")
    assert bad.error is not None
    assert (bad.status, bad.error.class_, bad.score) == ("error", error_class, None)
    assert text in bad.error.message
    assert {r.score for r in got if r is not bad} == {0.25}


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_fork_speaks_for_nobody(functions: Callable[..., str], leftovers: object, kind: str) -> None:
    path = functions(f"""
        {kind} forks(item):
            child = os.fork()
            if child == 0:
                print("from the child")
                return 7.0
            os.waitpid(child, 0)
            return 0.5
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:forks", num_workers=1, on_error="null") as p:
        got = p.collect(p.submit(rows(20)), timeout=60)
    assert got.scores.tolist() == [0.5] * 20


def test_a_fork_that_dies_with_its_parent_alive_ends_with_the_pipeline(functions: Callable[..., str], leftovers: object) -> None:
    path = functions("""
        def forks(item):
            if os.fork() == 0:
                os.setsid()
                time.sleep(1000)
            return 0.5
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:forks", num_workers=1) as p:
        assert p.collect(p.submit(rows(5)), timeout=60).scores.tolist() == [0.5] * 5


PRINTING = """
    import sys
    print("printed at import")

    def prints(item):
        print("printed for", item["item_id"])
        print("without a newline", end="", file=sys.stderr)
        os.write(1, b"raw bytes\\\\n")
        os.system("echo from a shell")
        sys.stdout.write("x" * 100_000)
        return 0.5
    """


def test_printing_never_reaches_stdout_and_carries_the_item_id(
    functions: Callable[..., str], write: Callable[..., Path], cli: Callable[..., Outcome]
) -> None:
    write("rows.jsonl", rows(3, "item-"))
    done = cli("score", "rows.jsonl", "--scorer", f"{functions(PRINTING)}:prints", "-o", "-")
    assert done.code == 0
    assert [r["score"] for r in done.rows()] == [0.5] * 3  # every line of stdout is a row
    for i in range(3):
        assert f"[item-{i}] printed for item-{i}" in done.err
        assert f"[item-{i}] without a newline" in done.err
    assert "printed at import" in done.err
    assert "raw bytes" in done.err and "from a shell" in done.err
    assert len(done.err) < 60_000  # 300,000 characters were printed


def test_closing_the_descriptors_of_the_worker_hurts_nobody_else(functions: Callable[..., str]) -> None:
    path = functions("""
        def closes(item):
            if item["item_id"] == "bad0":
                os.closerange(0, 64)
            return 0.25
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:closes", num_workers=1, on_error="null", timeout=2.0) as p:
        got = p.collect(p.submit([*rows(5), *rows(1, "bad"), *rows(5, "after")]), timeout=60)
    assert {r.score for r in got if r.item_id != "bad0"} == {0.25}


def test_replacing_stdout_and_signal_handlers_hurts_nobody_else(functions: Callable[..., str]) -> None:
    path = functions("""
        import signal, sys

        def meddles(item):
            sys.stdout = sys.stderr = None
            sys.setrecursionlimit(200)
            os.chdir("/")
            os.environ.clear()
            return 0.25
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:meddles", num_workers=1) as p:
        assert p.collect(p.submit(rows(30)), timeout=60).scores.tolist() == [0.25] * 30
