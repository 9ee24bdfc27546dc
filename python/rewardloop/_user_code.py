"""Scorers and managers that are Python objects: where each of them runs, and the names that users gave them."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from typing import Any, SupportsIndex, TypeVar

from ._calls import FunctionError, UserFunction
from ._core import Engine, _Pipeline
from ._errors import ArgumentError
from ._inline import Code, FunctionCode, ManagerCode, Runner
from ._log import listen, logger
from ._manager import RewardManager

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=type[RewardManager])

_scorers: dict[str, Callable[..., Any]] = {}
_managers: dict[str, type[RewardManager]] = {}


def scorer(name: str) -> Callable[[F], F]:
    """Decorator: gives a function a name that ``scorer=`` and ``data_sources=`` know.

    >>> @rl.scorer("starts_with")
    ... def starts_with(item):
    ...     return float(item["response"].startswith(item["ground_truth"]))
    """

    def register(function: F) -> F:
        _check_new(name, function, _scorers, "scorer")
        _scorers[name] = function
        try:
            function.__rewardloop_name__ = name  # type: ignore[attr-defined]  # `file.py:name` finds it
        except AttributeError:
            pass
        return function

    return register


def manager(name: str) -> Callable[[M], M]:
    """Decorator: gives a :class:`RewardManager` a name that ``manager=`` knows."""

    def register(kind: M) -> M:
        _check_new(name, kind, _managers, "manager")
        _managers[name] = kind
        return kind

    return register


def _check_new(name: str, value: Any, known: Mapping[str, Any], what: str) -> None:
    old = known.get(name)
    # A notebook cell or a reloaded module defines the same thing again.
    same = old is None or (old.__module__, old.__qualname__) == (value.__module__, value.__qualname__)
    if not name or not same:
        raise ArgumentError(f"a {what} named {name!r} is registered already ({old!r})" if name else f"a {what} needs a name")


def importable_name(function: Any) -> str | None:
    """``pkg.mod:fn`` or ``file.py:fn`` when a worker process can import ``function`` by it; None: it must run here."""
    module_name, path = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not inspect.isfunction(function) or not module_name or not path or "<" in path or module_name == "__main__":
        return None
    module = sys.modules.get(module_name)
    value: Any = module
    for part in path.split("."):
        value = getattr(value, part, None)
    file = getattr(module, "__file__", None)
    if value is not function or not file or not file.endswith(".py"):
        return None
    if _file_on_path(module_name) == file:
        return f"{module_name}:{path}"
    return f"{os.path.abspath(file)}:{path}"  # loaded from its path, as trainers do


def _file_on_path(module_name: str) -> str | None:
    """Where an import would find the module, whatever this process has loaded under its name."""
    folders: Any = None
    spec = None
    parts = module_name.split(".")
    for end in range(1, len(parts) + 1):
        spec = PathFinder.find_spec(".".join(parts[:end]), folders)
        if spec is None:
            return None
        folders = spec.submodule_search_locations
    return spec.origin if spec else None


class _Plan:
    """Options without Python objects, and the code that runs here."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = dict(options)
        self.specs: dict[str, dict[str, Any]] = {}
        self.runners: dict[str, Runner] = {}
        threads = self.options.get("threads_per_worker")
        self._threads = int(threads) if isinstance(threads, SupportsIndex) else 8  # C++ refuses what is no number
        self._plan_scorer()
        self._plan_data_sources()
        self._plan_manager()
        if not self.options.get("python") and not os.environ.get("REWARDLOOP_PYTHON"):
            self.options["python"] = sys.executable

    def _plan_scorer(self) -> None:
        scorer = self._named(self.options.get("scorer"))
        if scorer is None or isinstance(scorer, str):
            return
        name = self._name_of(scorer, self.options.get("scorer_args"))
        self.options["scorer"] = name
        if name in self.specs:
            self.options["scorer_args"] = None  # they are with the function

    def _plan_data_sources(self) -> None:
        table = self.options.get("data_sources")
        if not isinstance(table, Mapping):
            return
        planned: dict[Any, Any] = {}
        for source, target in table.items():
            entry = dict(target) if isinstance(target, Mapping) else {"scorer": target}
            scorer = self._named(entry.get("scorer"))
            if scorer is None or isinstance(scorer, str):
                planned[source] = target
                continue
            entry["scorer"] = name = self._name_of(scorer, entry.get("args"))
            if name in self.specs:
                entry["args"] = None  # they are with the function
            planned[source] = entry
        self.options["data_sources"] = planned

    @staticmethod
    def _named(scorer: Any) -> Any:
        return _scorers.get(scorer, scorer) if isinstance(scorer, str) else scorer

    def _name_of(self, function: Any, arguments: Mapping[str, Any] | None) -> str:
        name = importable_name(function)
        if name is not None:
            return name
        if arguments is not None and not isinstance(arguments, Mapping):
            raise ArgumentError(f"arguments of a function must be a dict, not {arguments!r}")
        label = getattr(function, "__qualname__", None) or type(function).__name__
        name = self._free_name(f"inline:{label}")
        try:
            code = FunctionCode(UserFunction(function, name, arguments or {}))
        except FunctionError as error:
            raise ArgumentError(f"{error} ({error.hint})" if error.hint else str(error)) from None
        self._add(name, code, kind="scorer", version=_version(function), batch=code.function.is_batch, threads=self._threads)
        logger.info("%s runs in this process and cannot be killed: functions of a module or file run in worker processes", name)
        return name

    def _plan_manager(self) -> None:
        given = self.options.get("manager")
        kind = _managers.get(given) if isinstance(given, str) else given
        if kind is None:
            return
        if inspect.isclass(kind) and issubclass(kind, RewardManager):
            made = kind(**(self.options.get("manager_args") or {}))
        elif isinstance(kind, RewardManager):
            if self.options.get("manager_args"):
                raise ArgumentError("manager_args go to a manager's class; this one is made already")
            made = kind
        else:
            raise ArgumentError(f"manager must be a name, a RewardManager or a subclass of it, not {kind!r}")
        for size in ("threads", "max_batch"):
            if not isinstance(value := getattr(made, size), int) or value < 1:
                raise ArgumentError(f"{size} of {type(made).__name__} must be an integer of at least 1, not {value!r}")
        name = self._free_name(f"inline:{type(made).__qualname__}")
        code = ManagerCode(made, name)
        self._add(name, code, kind="manager", granularity=code.granularity, max_batch=made.max_batch,
                  verdicts=code.with_verdicts, threads=made.threads)
        self.options["manager"], self.options["manager_args"] = name, None

    def _free_name(self, name: str) -> str:
        count = 2
        free = name
        while free in self.specs:
            free, count = f"{name}-{count}", count + 1
        return free

    def _add(self, name: str, code: Code, *, threads: int, **spec: Any) -> None:
        self.specs[name] = {"threads": threads, "cancellable": code.is_async, **spec}
        self.runners[name] = Runner(code, threads)


def _version(function: Any) -> str:
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        return "1"
    return "1+" + hashlib.sha256(source.encode()).hexdigest()[:12]


def open_pipeline(options: Mapping[str, Any], engine: Engine | None) -> _Pipeline:
    """A pipeline with the threads that its inline code needs. ``options`` may hold functions and managers."""
    listen()
    plan = _Plan(options)
    # Another interpreter has folders of its own.
    same = plan.options.get("python") == sys.executable
    sys_path = [path or os.getcwd() for path in sys.path] if same else []
    core = _Pipeline(plan.options, engine, plan.specs, sys_path)
    for name, runner in plan.runners.items():
        runner.start(core.inline_calls(name))
    return core
