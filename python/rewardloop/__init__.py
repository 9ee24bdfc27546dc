"""Rewards for RL post-training of language models.

>>> import rewardloop as rl
>>> rl.verify("1/2", r"so \\boxed{0.5}").score
1.0

``rl.verify`` judges one answer, ``rl.score`` a list of rows or a file, ``rl.AsyncRewardPipeline`` takes
samples as they finish; ``rl.aio`` has the same pipeline for asyncio. The package is documented in
docs/python.md.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import math
from ._core import (
    BatchHandle,
    Engine,
    RewardErrorInfo,
    RewardResult,
    Timing,
    default_engine,
    list_managers,
    list_scorers,
    _statuses,
)
from ._core import VERSION as __version__
from ._errors import (
    ArgumentError,
    CancelledError,
    CollectTimeoutError,
    DataLossError,
    Error,
    ForkedError,
    InternalError,
    OverloadedError,
    RewardError,
    StateError,
    UnavailableError,
    UnknownNameError,
    UnsupportedError,
)
from ._manager import RewardManager
from ._pipeline import AsyncRewardPipeline, Step
from ._results import Group, Results
from ._score import ScoreReport, score
from ._scorer import Scorer
from ._types import Output, PipelineOptions, RewardItem
from ._user_code import manager, scorer
from ._verify import verify, verify_batch

if TYPE_CHECKING:
    from . import aio

#: Every value of ``RewardResult.status``.
STATUSES: tuple[str, ...] = tuple(_statuses())

logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "STATUSES",
    "ArgumentError",
    "AsyncRewardPipeline",
    "BatchHandle",
    "CancelledError",
    "CollectTimeoutError",
    "DataLossError",
    "Engine",
    "Error",
    "ForkedError",
    "Group",
    "InternalError",
    "Output",
    "OverloadedError",
    "PipelineOptions",
    "Results",
    "RewardError",
    "RewardErrorInfo",
    "RewardItem",
    "RewardManager",
    "RewardResult",
    "ScoreReport",
    "Scorer",
    "StateError",
    "Step",
    "Timing",
    "UnavailableError",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "aio",
    "default_engine",
    "list_managers",
    "list_scorers",
    "manager",
    "math",
    "score",
    "scorer",
    "verify",
    "verify_batch",
]


def __getattr__(name: str) -> Any:
    # asyncio is only paid for by those who use it.
    if name == "aio":
        return import_module(".aio", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
