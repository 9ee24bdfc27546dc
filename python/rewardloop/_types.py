"""Types of what goes in: items and options. Plain dicts at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ._manager import RewardManager

    TokenIds: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]

#: Anything that JSON can hold, NumPy scalars and arrays, and integers of any size.
JsonValue: TypeAlias = Any


class Output(TypedDict, total=False):
    """One model output of a trajectory."""

    text: str | None
    token_ids: TokenIds | None
    num_tokens: int | None
    stop_reason: str | None


class RewardItem(TypedDict, total=False):
    """What is to be scored. ``response`` (or ``solution_str``) is short for one output."""

    item_id: str | int
    data_source: str | None
    prompt: JsonValue
    outputs: Sequence[Output | str | None] | None
    response: str | None
    solution_str: str | None
    token_ids: TokenIds | None
    num_tokens: int | None
    stop_reason: str | None
    ground_truth: JsonValue
    extra_info: Mapping[str, JsonValue] | None
    group_id: str | int | None
    group_size: int | None
    rollout_id: str | int | None
    session_id: str | int | None
    index: int | None


Items: TypeAlias = Sequence[RewardItem] | Sequence[Mapping[str, Any]]


class PipelineOptions(TypedDict, total=False):
    """Arguments of a pipeline: the keys of the configuration file, documented by ``rewardloop config schema``."""

    scorer: str | Callable[..., Any] | None
    scorer_args: Mapping[str, JsonValue] | None
    manager: str | RewardManager | type[RewardManager]
    manager_args: Mapping[str, JsonValue] | None
    dispatch: Literal["native", "verl"]
    data_sources: Mapping[str, Any] | None
    unknown_rewards: Literal["raise", "warn"]
    preset: str | None
    fields: Mapping[str, str] | None
    on_error: str
    timeout: float | None
    total_timeout: float | None
    queue_timeout: float | None
    max_attempts: int
    retry_delay: float
    seed: int
    grouping: Literal["submit", "explicit"]
    group_size: int
    group_deadline: float | None
    threads: int
    num_workers: int
    threads_per_worker: int
    python: str
    import_timeout: float
    worker_memory: int
    hide_env: str
    worker_gpus: str
    max_concurrent: int
    backlog_items: int
    backlog_bytes: int
    overflow: Literal["block", "drop_oldest", "reject"]
    uncollected_items: int
    uncollected_bytes: int
