"""rl.verify: is the answer in this completion equal to the gold answer?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from . import _core
from ._errors import ArgumentError
from ._results import Results


@lru_cache(maxsize=64)
def _scorer(key: str) -> _core.Scorer:
    return _core.Scorer("math", **json.loads(key))


_default: _core.Scorer | None = None


def _scorer_for(args: dict[str, Any]) -> _core.Scorer:
    global _default
    if args:
        try:
            key = json.dumps(args, sort_keys=True)
        except TypeError:  # a NumPy value; what is no JSON at all is an error that says where
            return _core.Scorer("math", **args)
        return _scorer(key)
    if _default is None:
        _default = _core.Scorer("math")
    return _default


def verify(gold: Any, prediction: str | None, **args: Any) -> _core.RewardResult:
    """Judges ``prediction``, a completion, against ``gold``.

    Runs on the calling thread, needs no engine, holds no GIL, and is valid in a forked child. The verdict is
    the one of the scorer ``math`` in a pipeline.

    Parameters
    ----------
    gold
        The right answer: LaTeX, plain notation or a number; a list means that any of its elements is right.
    prediction
        The completion. None, like a completion without an answer, scores 0.
    **args
        Arguments of the scorer ``math``: ``profile="strict"``, and the policies of docs/math.md
        (``unit_required=True``, ``consistent_steps=False``, ...).

    Returns
    -------
    RewardResult
        ``status`` is "unscorable" when the gold cannot be read, or when equality could not be decided.
    """
    return _scorer_for(args)._verify(gold, prediction)


def verify_batch(golds: Any, predictions: Iterable[str | None], *, threads: int = 1, **args: Any) -> Results:
    """``[verify(g, p) for g, p in zip(golds, predictions)]``, without the GIL, on ``threads`` threads.

    ``golds`` is a list with one gold for each prediction, or a single gold (not a list) for all. ``threads=0``
    takes as many as there are CPUs.
    """
    if isinstance(predictions, str):
        raise ArgumentError("predictions must be a list of texts, not a str: rl.verify judges one")
    texts = predictions if isinstance(predictions, list) else list(predictions)
    if isinstance(golds, (str, bytes, Mapping)) or not isinstance(golds, Iterable):
        answers: list[Any] = [golds] * min(1, len(texts))
    else:
        answers = list(golds)
        if len(answers) != len(texts):
            raise ArgumentError(f"{len(answers)} golds for {len(texts)} predictions: give one for each, or a single one")
    return Results(_scorer_for(args)._verify_batch(answers, texts, threads))
