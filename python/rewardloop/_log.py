"""What the package says through the logger `rewardloop`."""

from __future__ import annotations

import logging
from collections import Counter

from ._results import Results

logger = logging.getLogger("rewardloop")


class ErrorLog:
    """Says that items have no score, at the 1st, 10th, 100th ... of each kind."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def note(self, results: Results) -> None:
        for result in results:
            if result.error is None:
                continue
            kind = result.status, result.error.class_
            self._counts[kind] += 1
            count = self._counts[kind]
            if count == 10 ** (len(str(count)) - 1):
                logger.warning("%s(%s), %d so far; item %r: %s", *kind, count, result.item_id, result.error.message)
