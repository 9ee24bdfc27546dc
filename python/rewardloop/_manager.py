"""Managers that users write in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._calls import Item, Verdict, bad_return, verdict_of

_METHODS = {"run_item": "item", "run_batch": "batch", "run_group": "group"}


class RewardManager:
    """Turns items into rewards. Override one of the three methods; it may be ``async``.

    ``run_item(self, item)``
        One item, a dict with the fields of an item.
    ``run_batch(self, items)``
        Some items of one submit, ``{item_id: item}``. Which come together carries no meaning.
    ``run_group(self, items)``
        All members of a group at once, ``{item_id: item}``: for judges that rank.

    With a second parameter (``run_group(self, items, verdicts)``) the scorer runs first, and the method gets what it said:
    a dict with ``status``, ``score``, ``components``, ``extra``, ``extracted``, ``reason`` and ``error``, or ``{item_id:
    dict}``. The method returns a reward as scorers do (a number, ``(number, dict)``, a dict with ``score``) or the verdict
    that it was given; the other two return ``{item_id: reward}`` with every id they got.

    The method runs in this process, on threads of the pipeline's (``threads``) or on its event loop. It cannot be killed: see
    docs/user-functions.md. Times, limits and delivery are the engine's.
    """

    #: Threads for blocking methods.
    threads: int = 8
    #: Largest number of items of one ``run_batch``.
    max_batch: int = 256


def overridden(manager: RewardManager) -> tuple[str, str]:
    """(method, granularity) of the one method that ``manager`` has."""
    own = [name for name in _METHODS if callable(getattr(manager, name, None))]
    kind = type(manager).__name__
    if len(own) != 1:
        has = f"it has {' and '.join(own)}" if own else "it has none"
        raise TypeError(f"{kind} must override one of {', '.join(_METHODS)}; {has}")
    return own[0], _METHODS[own[0]]


def verdict_from(value: Any, name: str) -> Verdict:
    """What a manager returned for one item; a verdict that it was handed keeps its status."""
    if isinstance(value, Mapping) and "status" in value and value["status"] != "scored":
        error = value.get("error") or {}
        return {"status": str(value["status"]), "class": str(error.get("class") or "error"),
                "message": str(error.get("message") or "")}
    if isinstance(value, Mapping) and "status" in value:
        value = {**(value.get("extra") or {}), **{k: v for k, v in value.items() if k in _VERDICT_FIELDS and v is not None}}
    return verdict_of(value, name)


_VERDICT_FIELDS = ("score", "components", "extracted", "reason")


def verdicts_by_id(value: Any, items: Mapping[str, Item], name: str) -> list[Verdict]:
    """One verdict per item, from ``{item_id: reward}``. Ids that are missing or unknown are errors that name them."""
    if not isinstance(value, Mapping):
        problem = f"'{name}' returned a {type(value).__name__} instead of {{item_id: reward}}"
        return [bad_return(problem)] * len(items)
    unknown = [repr(key) for key in value if key not in items]
    if unknown:
        problem = f"'{name}' returned rewards for ids that it was not given: {', '.join(unknown[:5])}"
        return [bad_return(problem)] * len(items)
    return [
        verdict_from(value[item_id], name) if item_id in value else bad_return(f"'{name}' returned no reward for {item_id!r}")
        for item_id in items
    ]
