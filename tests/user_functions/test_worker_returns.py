"""What a worker makes of whatever user code returns and raises. In the worker alone: no engine, no build."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import pytest
from worker_harness import Worker

PRELUDE = """
import asyncio, dataclasses, decimal, enum, fractions, functools, os, sys, threading, time
class Bad:
    def __float__(self): raise RuntimeError("no float")
class Sparse:
    def tolist(self): raise RuntimeError("sparse")
class Odd(Exception):
    def __str__(self): raise ValueError("no text")
class Worse(Exception):
    def __str__(self): raise SystemExit(3)
"""

SCORES = {
    "int": ("1", 1.0),
    "bool": ("True", 1.0),
    "fraction": ("fractions.Fraction(1, 4)", 0.25),
    "decimal": ("decimal.Decimal('0.5')", 0.5),
    "pair": ("(0.5, {'why': 'x'})", 0.5),
    "mapping": ("{'score': 1, 'acc': True}", 1.0),
    "ordered": ("__import__('collections').OrderedDict(score=0.25)", 0.25),
    "proxy": ("__import__('types').MappingProxyType({'score': 2})", 2.0),
    "named tuple": ("__import__('collections').namedtuple('R', 'score extra')(3, {'a': 1})", 3.0),
    "negative zero": ("-0.0", 0.0),
    "huge": ("10**300", 1e300),
}

ERRORS = {
    "None": ("None", "no_score", "None"),
    "score None": ("{'score': None}", "no_score", "None"),
    "NaN": ("float('nan')", "non_finite", "nan"),
    "infinite": ("-math.inf", "non_finite", "-inf"),
    "int beyond double": ("10**400", "non_finite", "inf"),
    "text": ("'1.0'", "bad_return", "a str where a number"),
    "bytes": ("bytearray(b'1')", "bad_return", "a bytearray where a number"),
    "memory": ("memoryview(b'1')", "bad_return", "a memoryview where a number"),
    "complex": ("1j", "bad_return", "a complex"),
    "no score": ("{'acc': 1, 'b': 2}", "bad_return", "without 'score' (it has 'acc', 'b')"),
    "triple": ("(1, {}, 2)", "bad_return", "a tuple"),
    "generator": ("(x for x in [1])", "bad_return", "a generator"),
    "function": ("len", "bad_return", "builtin_function"),
    "raising float": ("Bad()", "bad_return", "a Bad where a number"),
    "object in extra": ("{'score': 1, 'x': object()}", "bad_return", "cannot be carried: a object"),
    "bytes in extra": ("{'score': 1, 'x': b'1'}", "bad_return", "cannot be carried"),
    "key of extra": ("{'score': 1, (1, 2): 3}", "bad_return", "cannot be carried"),
    "endless int in extra": ("{'score': 1, 'x': 10**5000}", "bad_return", "cannot be carried"),
    "10 MB": ("{'score': 1, 'x': 'x' * 10_000_000}", "bad_return", "10000"),
    "raising list in extra": ("{'score': 1, 'x': Sparse()}", "bad_return", "cannot be carried: sparse"),
    "components": ("{'score': 1, 'components': {'a': 'b'}}", "bad_return", "component 'a'"),
    "raise": ("1 / 0", "exception", "ZeroDivisionError: division by zero (/no/rewards.py:"),
    "SystemExit": ("sys.exit(5)", "exception", "SystemExit: 5"),
    "KeyboardInterrupt": ("throw(KeyboardInterrupt())", "exception", "KeyboardInterrupt"),
    "GeneratorExit": ("throw(GeneratorExit())", "exception", "GeneratorExit"),
    "StopIteration": ("throw(StopIteration(1))", "exception", "StopIteration"),
    "StopAsyncIteration": ("throw(StopAsyncIteration(1))", "exception", "StopAsyncIteration"),
    "BaseException": ("throw(BaseException('b'))", "exception", "BaseException: b"),
    "str raises": ("throw(Odd())", "exception", "Odd"),
    "str exits": ("throw(Worse())", "exception", "Worse"),
    "10 MB exception": ("throw(ValueError('x' * 10_000_000))", "exception", "ValueError: xxx"),
    "SyntaxError of its own": ("throw(SyntaxError('m', ('f', 'x', None, 3)))", "exception", "SyntaxError"),
    "surrogate": ("throw(ValueError('\\udc80'))", "exception", "ValueError"),
    "recursion": ("deep()", "exception", "RecursionError"),
    "MemoryError": ("throw(MemoryError())", "memory_limit", "MemoryError"),
    "circular": ("circle()", "bad_return", "cannot be carried"),
}

HELPERS = """
import math
def throw(error): raise error
def deep(): return deep()
def circle():
    value = {'score': 1}
    value['again'] = [value]
    return value
"""


def source(kind: str) -> str:
    prefix = "async " if kind == "async" else ""
    cases = {**{k: v[0] for k, v in SCORES.items()}, **{k: v[0] for k, v in ERRORS.items()}}
    body = "".join(f"    if item['item_id'] == {name!r}: return {expression}\n" for name, expression in cases.items())
    return f"{PRELUDE}{HELPERS}\n{prefix}def fn(item):\n{body}"


@pytest.fixture(scope="module", params=["sync", "async"])
def worker(request: pytest.FixtureRequest) -> Any:
    with Worker(source(request.param)) as one:
        assert one.info["async"] == (request.param == "async")
        yield one


@pytest.mark.parametrize("case", SCORES)
def test_scores(worker: Worker, case: str) -> None:
    verdict = worker.one(item_id=case)
    assert verdict["status"] == "scored", verdict
    assert verdict["score"] == SCORES[case][1]


@pytest.mark.parametrize("case", ERRORS)
def test_errors(worker: Worker, case: str) -> None:
    _, error_class, text = ERRORS[case]
    verdict = worker.one(item_id=case)
    if case == "StopIteration" and worker.info["async"]:
        text = "RuntimeError: coroutine raised StopIteration"
    assert verdict["status"] == "error", verdict
    assert verdict["class"] == error_class
    assert text in verdict["message"]
    assert len(verdict["message"]) <= 4000
    assert "score" not in verdict


def test_extra_that_json_does_not_know_by_itself() -> None:
    text = """
import collections, decimal, math
def fn(item):
    return {'score': 1, 'nan': float('nan'), 'inf': [1, -math.inf], 'set': {2, 1}, 'decimal': decimal.Decimal('0.5'),
            'deep': {'x': (1, float('nan'))}, 'counter': collections.Counter('aa'), 'big': 10**30, 'int key': {1: 2}}
"""
    with Worker(text) as one:
        verdict = one.one()
    assert verdict["extra"] == {
        "nan": None, "inf": [1, None], "set": [1, 2], "decimal": 0.5, "deep": {"x": [1, None]}, "counter": {"a": 2},
        "big": 10**30, "int key": {"1": 2}}


@pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="no NumPy")
def test_numpy_numbers() -> None:
    text = """
import numpy as np
def fn(item):
    return {'scalar': np.float32(0.5), 'bool': np.bool_(True), 'zero-d': np.array(2), 'nan': np.float64('nan'),
            'two': np.array([1.0, 2.0]), 'text': np.str_('1'),
            'extra': {'score': np.int64(3), 'a': np.arange(3), 'b': np.float32('nan'), 'c': np.bool_(False)}}[item['item_id']]
def batch(items):
    return np.array([0.5, np.nan, 1.0])[:len(items)]
"""
    with Worker(text) as one:
        assert [one.one(item_id=name).get("score") for name in ("scalar", "bool", "zero-d")] == [0.5, 1.0, 2.0]
        assert one.one(item_id="nan")["class"] == "non_finite"
        assert one.one(item_id="two")["class"] == "bad_return"
        assert one.one(item_id="text")["class"] == "bad_return"
        assert one.one(item_id="extra") == {"status": "scored", "score": 3.0, "extra": {"a": [0, 1, 2], "b": None, "c": False}}
    with Worker(text, "batch") as many:
        verdicts = many.ask(*({"item_id": str(i)} for i in range(3)))
        assert [verdict.get("score") for verdict in verdicts] == [0.5, None, 1.0]
        assert verdicts[1]["class"] == "non_finite"


# What has a tolist() and a __float__, and raises what it likes: torch's tensors do.
TENSOR = """
class Tensor:
    def __init__(self, *values): self.values = values
    def tolist(self): return list(self.values) if len(self.values) != 1 else self.values[0]
    def __float__(self):
        if len(self.values) != 1: raise RuntimeError("a Tensor with 2 elements cannot be converted to Scalar")
        return float(self.values[0])
    def __iter__(self): return iter(Tensor(v) for v in self.values)
def fn(item): return Tensor(*item['ground_truth'])
def batch(items): return Tensor(*(i['ground_truth'] for i in items))
def extra(item): return {'score': Tensor(1), 'logits': Tensor(1, 2)}
"""


def test_tensors() -> None:
    with Worker(TENSOR) as one:
        assert one.one(ground_truth=[0.5])["score"] == 0.5
        assert one.one(ground_truth=[0.5, 1])["class"] == "bad_return"
    with Worker(TENSOR, "batch") as many:
        assert [v["score"] for v in many.ask({"item_id": "a", "ground_truth": 1}, {"item_id": "b", "ground_truth": 0.5})] == [1, 0.5]
    with Worker(TENSOR, "extra") as one:
        assert one.one() == {"status": "scored", "score": 1.0, "extra": {"logits": [1, 2]}}


def test_batches_return_one_value_for_each() -> None:
    text = """
def fn(items):
    kind = items[0]['item_id']
    n = len(items)
    return {'list': [1.0] * n, 'tuple': (1,) * n, 'generator': (1 for _ in items), 'few': [1] * (n - 1), 'text': 'x' * n,
            'mapping': {'score': [1] * n}, 'none': None, 'mixed': [{'score': 1}, None][:n], 'number': 1.0}[kind]
"""
    with Worker(text) as one:
        def ask(kind: str) -> list[dict[str, Any]]:
            return one.ask({"item_id": kind}, {"item_id": "second"})

        for kind in ("list", "tuple", "generator"):
            assert [v.get("score") for v in ask(kind)] == [1.0, 1.0], kind
        for kind in ("text", "mapping", "none", "number"):
            assert [v["class"] for v in ask(kind)] == ["bad_return"] * 2, kind
        assert "returned 1 values for 2 items" in ask("few")[0]["message"]
        mixed = ask("mixed")
        assert mixed[0]["score"] == 1 and mixed[1]["class"] == "no_score"


def test_numbers_are_those_of_json() -> None:
    with Worker("def fn(item): return item['ground_truth']") as one:
        for number in (0.1, 1e-320, 5e-324, 1.7976931348623157e308, 123456789012345678):
            assert one.one(ground_truth=number)["score"] == float(number)
        assert math.copysign(1, one.one(ground_truth=-0.0)["score"]) == -1
