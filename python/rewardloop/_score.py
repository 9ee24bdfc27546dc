"""rl.score: rows or a file in, a report out."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _core, _log
from ._core import Engine
from ._errors import ArgumentError
from ._options import checked_options
from ._pipeline import deliver
from ._results import Results
from ._types import PipelineOptions
from ._user_code import open_pipeline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing import Unpack


class ScoreReport:
    """What ``rl.score`` found.

    Attributes
    ----------
    results
        One result per row, in input order.
    """

    __slots__ = ("results",)

    def __init__(self, results: Results) -> None:
        self.results = results

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores, NaN where there is none."""
        return self.results.scores

    @property
    def valid(self) -> NDArray[np.bool_]:
        """True where there is a score that no policy masked."""
        return self.results.valid

    @property
    def status_counts(self) -> dict[str, int]:
        """How many rows have each status, most frequent first."""
        return dict(Counter(result.status for result in self.results).most_common())

    @property
    def mean(self) -> float | None:
        """Mean of the scores that exist; None when there is none."""
        valid = self.valid
        return float(self.scores[valid].mean()) if valid.any() else None

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        mean = self.mean
        counts = ", ".join(f"{count} {status}" for status, count in self.status_counts.items())
        return f"ScoreReport({len(self)} rows: {counts or 'none'}; mean {'-' if mean is None else f'{mean:.4g}'})"


def score(
    rows: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
    *,
    engine: Engine | None = None,
    **options: Unpack[PipelineOptions],
) -> ScoreReport:
    """Scores rows and returns a report.

    Parameters
    ----------
    rows
        Dicts, or the path of a JSONL file (``.gz`` too). Columns that no field needs may hold anything.
    engine
        Whose threads to use.
    **options
        As for :class:`AsyncRewardPipeline`. ``fields`` ({"response": "pred"}) and ``preset`` ("verl", "trl", ...)
        say which column is which field.

    Raises
    ------
    RewardError
        Rows without a score under ``on_error="raise"``, the default; ``err.results`` has all results.
    """
    checked = checked_options(options)
    preset, fields = checked.get("preset") or "", checked.get("fields")
    if isinstance(rows, (str, os.PathLike)):
        items = _core._items_from_file(os.fspath(rows), preset, fields)
    elif isinstance(rows, Mapping):
        raise ArgumentError("rows must be a list of dicts or the path of a file, not a dict (one row goes into a list: [row])")
    else:
        items = _core._items_from_rows(rows if isinstance(rows, list) else list(rows), preset, fields)
    # One submit has all groups and sessions whole; its results are collected at once.
    checked.setdefault("uncollected_items", max(len(items), 65536))
    checked.setdefault("uncollected_bytes", 1 << 62)
    pipeline = open_pipeline(checked, engine)
    try:
        delivered = pipeline.collect(pipeline.submit_items(items, 0), None)
    finally:
        pipeline.close("cancel", None)
        _log.deliver()
    return ScoreReport(deliver(delivered, _log.ErrorLog()))
