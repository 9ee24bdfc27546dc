"""Other questions to the math verifier. ``profile`` and further arguments are those of the scorer ``math``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import _core

__all__ = ["PROFILES", "Comparison", "Explanation", "Extraction", "Vote", "compare", "explain", "extract", "vote"]

PROFILES: tuple[str, ...] = tuple(_core._math_profiles())


@dataclass(frozen=True, slots=True)
class Extraction:
    """The answer that was found in a completion.

    ``text`` is None where there is none; ``anchor`` says how it was found ("boxed", "answer_tag", ...); ``span``
    is its range in the completion.
    """

    text: str | None
    anchor: str
    span: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether two answers are equal.

    ``outcome`` is "equal", "different", "no_answer", "limit", "unknown" or "bad_gold"; ``score`` is None for the
    last two. ``rule`` decided, ``reason`` is its code.
    """

    outcome: str
    score: float | None
    reason: str
    rule: str
    anchor: str
    span: tuple[int, int] | None
    fuel_used: int

    def __bool__(self) -> bool:
        return self.outcome == "equal"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict with both sides printed back as they were read."""

    outcome: str
    score: float | None
    reason: str
    rule: str
    anchor: str
    span: tuple[int, int] | None
    fuel_used: int
    extracted: str
    gold_form: str
    prediction_form: str
    gold_type: str
    prediction_type: str


@dataclass(frozen=True, slots=True)
class Vote:
    """Completions by the class of their answer.

    ``winner`` is the number of the largest class (the earliest of equal ones), ``representative`` the index of its
    first completion, ``answer`` that completion; all None when nobody answered. ``class_of`` has None where a
    completion has no answer.
    """

    winner: int | None
    representative: int | None
    answer: str | None
    class_of: list[int | None]
    class_size: list[int]


def extract(completion: str, *, profile: str = "default", **args: Any) -> Extraction:
    """Finds the answer of a completion without a gold."""
    return Extraction(*_core._math_extract(completion, profile, args))


def compare(gold: Any, answer: str, *, profile: str = "default", **args: Any) -> Comparison:
    """Compares with an answer that has been extracted already: all of ``answer`` is the answer."""
    return Comparison(**_core._math_compare(gold, answer, profile, args))


def explain(gold: Any, prediction: str, *, profile: str = "default", **args: Any) -> Explanation:
    """As ``rl.verify``, with what a person needs to understand the verdict."""
    return Explanation(**_core._math_explain(gold, prediction, profile, args))


def vote(completions: Iterable[str | None], *, profile: str = "default", **args: Any) -> Vote:
    """Majority vote: completions whose answers are equal form a class; undecided counts as different."""
    texts = list(completions)
    class_of, class_size, winner, representative = _core._math_vote(texts, profile, args)
    return Vote(
        winner=None if winner < 0 else winner,
        representative=None if representative < 0 else representative,
        answer=None if representative < 0 else texts[representative],
        class_of=[None if number < 0 else number for number in class_of],
        class_size=class_size,
    )
