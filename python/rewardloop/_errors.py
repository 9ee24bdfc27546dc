"""The exception tree. What became of one item is a status in its result, never an exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from ._results import Results


class Error(Exception):
    """Base of everything that rewardloop raises."""


class ArgumentError(Error, ValueError):
    """An argument, an item or a configuration that cannot be used; the same call fails again."""


class UnknownNameError(Error, KeyError, ValueError):
    """A name nobody knows: of a scorer, a manager, a handle, a group."""

    def __str__(self) -> str:  # KeyError would show the repr of the message
        return str(self.args[0]) if self.args else ""


class StateError(Error, RuntimeError):
    """The right call at the wrong moment, such as submit after close."""


class ForkedError(StateError):
    """An object whose threads stayed in the parent of a fork."""


class OverloadedError(Error, RuntimeError):
    """A bound was reached: too many uncollected results, for example."""


class CollectTimeoutError(Error, TimeoutError):
    """Waited as long as the caller allowed. The handle stays valid."""


class CancelledError(Error):
    """Somebody asked for it to end."""


class UnavailableError(Error, ConnectionError):
    """A backend is down; trying later can work."""


class DataLossError(Error):
    """A file is torn, or is not the one that it claims to be."""


class UnsupportedError(Error, NotImplementedError):
    """Not available in this version."""


class InternalError(Error, RuntimeError):
    """A bug of rewardloop."""


class RewardError(Error):
    """Rows without a score under ``on_error="raise"``. ``results`` holds all results, in input order."""

    def __init__(self, message: str, results: Results) -> None:
        super().__init__(message, results)
        self.results = results

    def __str__(self) -> str:
        return str(self.args[0])


_core._set_error_types(
    {
        "INVALID_ARGUMENT": ArgumentError,
        "ALREADY_EXISTS": ArgumentError,
        "NOT_FOUND": UnknownNameError,
        "FAILED_PRECONDITION": StateError,
        "RESOURCE_EXHAUSTED": OverloadedError,
        "DEADLINE_EXCEEDED": CollectTimeoutError,
        "CANCELLED": CancelledError,
        "UNAVAILABLE": UnavailableError,
        "DATA_LOSS": DataLossError,
        "UNIMPLEMENTED": UnsupportedError,
        "INTERNAL": InternalError,
        "FORKED": ForkedError,
    }
)
