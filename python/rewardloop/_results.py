"""What is delivered: results as a list with arrays, and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._core import Batch, RewardResult, _set_results_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._core import _Group


class Results(list[RewardResult]):
    """Results in input order: a list, with their scores as NumPy arrays.

    The arrays show the engine's memory without a copy, and the list as it was delivered.
    """

    __slots__ = ("_batch",)
    _batch: Batch | None

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        batch.fill(self)

    @classmethod
    def _restore(cls, results: list[RewardResult]) -> Results:
        self = cls.__new__(cls)
        list.__init__(self, results)
        self._batch = None
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Results._restore, (list(self),)

    @property
    def missing(self) -> int:
        """How many items no verdict was reached for, whatever ``on_error`` made of them."""
        return self._batch.missing if self._batch is not None else sum(r.status != "scored" for r in self)

    @property
    def scores(self) -> NDArray[np.float64]:
        """Scores, NaN where there is none."""
        if self._batch is not None:
            return self._batch.scores
        import numpy as np

        return np.array([np.nan if r.score is None else r.score for r in self], dtype=np.float64)

    @property
    def valid(self) -> NDArray[np.bool_]:
        """True where there is a score that no policy masked."""
        if self._batch is not None:
            return self._batch.valid
        import numpy as np

        return np.array([r.valid for r in self], dtype=np.bool_)


_set_results_type(Results)


class Group:
    """Trajectories of one prompt, delivered together.

    Attributes
    ----------
    group_id, step
        Identity of the group.
    results
        Results of its members in the order of submission; ``results.scores`` is ``scores``.
    valid
        NumPy mask: has a score one may train on. ``on_error="drop_group"`` masks all members.
    complete
        False when the group was closed before all members had arrived and ended.
    expected
        Members it should have; 0 when nobody said.
    missing
        Ids of submitted members without a result.
    """

    __slots__ = ("complete", "expected", "group_id", "missing", "results", "step")

    def __init__(self, group: _Group) -> None:
        self.group_id: str = group.group_id
        self.step: int = group.step
        self.complete: bool = group.complete
        self.expected: int = group.expected
        self.missing: list[str] = group.missing
        self.results = Results(group.batch)

    @property
    def scores(self) -> NDArray[np.float64]:
        return self.results.scores

    @property
    def valid(self) -> NDArray[np.bool_]:
        return self.results.valid

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        return f"Group({self.group_id!r}, {len(self)} results{state})"
