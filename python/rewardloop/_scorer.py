"""Scorers without an engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._results import Results


class Scorer(_core.Scorer):
    """A built-in scorer, called on the caller's thread. Needs no engine; works in a forked child.

    >>> rl.Scorer("gsm8k", method="flexible").score({"response": "It is 42.", "ground_truth": "42"}).score
    1.0
    """

    def score_batch(self, items: Iterable[Mapping[str, Any]], *, threads: int = 1) -> Results:
        """Judges items on ``threads`` threads (0: as many as there are CPUs) that end with the call."""
        return Results(self._score_batch(items, threads))

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self.name, self.args)


def _make(name: str, args: dict[str, Any]) -> Scorer:
    return Scorer(name, **args)
