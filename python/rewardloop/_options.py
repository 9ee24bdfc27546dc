"""Options of a pipeline, checked before C++ sees them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from . import _core
from ._errors import ArgumentError

_names: list[str] | None = None
# Keys whose default is no text: in YAML "", in Python None too.
_NONE_IS_DEFAULT = ("scorer", "preset")


class UnknownOptionError(ArgumentError, TypeError):
    """A keyword argument that a pipeline does not have."""


def option_names() -> list[str]:
    global _names
    if _names is None:
        _names = [key["name"] for key in _core._config_keys()]
    return _names


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """``options`` as a dict; raises for unknown names."""
    for name, value in options.items():
        if name not in option_names():
            near = difflib.get_close_matches(name, [*option_names(), "engine"], 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(option_names())}"
            raise UnknownOptionError(f"unknown option {name!r} ({hint})")
        if name == "scorer" and not (value is None or isinstance(value, str) or callable(value)):
            raise ArgumentError(f"scorer must be a name or a function, not {value!r}")
    return {name: value for name, value in options.items() if value is not None or name not in _NONE_IS_DEFAULT}
