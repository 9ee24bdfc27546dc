"""How a user's function is called, and what its return value means.

Standard library only: worker processes run this file under the user's interpreter, which needs no rewardloop.
"""

from __future__ import annotations

import difflib
import enum
import inspect
import json
import math
import os
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

Item = dict[str, Any]
Verdict = dict[str, Any]

#: Largest reply of one call, as JSON.
MAX_REPLY_BYTES = 4 << 20
_MAX_MESSAGE = 2000
_MAX_FRAMES = 6
_LARGE = 2.0**53  # integers up to here are exact doubles
# What verl's functions are called with, and which value of an item that is.
_VERL_COLUMN = {"data_source": "data_source", "solution_str": "response", "ground_truth": "ground_truth", "extra_info": "extra_info"}
_VERL_COLUMNS = {"verl": _VERL_COLUMN, "verl_batch": {name + "s": key for name, key in _VERL_COLUMN.items()}}
_NUMBERS = frozenset((float, int, bool))
# Columns that TRL's functions call the ground truth, where the row has no column of that name.
_TRUTH_NAMES = ("answer", "answers", "solution", "target", "label", "gold", "reference", "reference_answer")


class FunctionError(Exception):
    """A function that cannot be loaded or called. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class _Parameters:
    """What a function accepts."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        try:
            parameters = inspect.signature(function).parameters.values()
        except (TypeError, ValueError) as error:
            raise FunctionError(f"the parameters of '{name}' cannot be read: {error}") from error
        kinds = inspect.Parameter
        self.takes_any = any(p.kind is kinds.VAR_KEYWORD for p in parameters)
        self.takes_more = any(p.kind is kinds.VAR_POSITIONAL for p in parameters)
        named = [p for p in parameters if p.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)]
        self.names = [p.name for p in named]
        self.positional = [p.name for p in named if p.kind is not kinds.KEYWORD_ONLY]
        self.required = [p.name for p in named if p.default is kinds.empty]

    def accepted(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Those of ``values`` that the function takes as keywords."""
        return dict(values) if self.takes_any else {k: v for k, v in values.items() if k in self.names}

    def __str__(self) -> str:
        names = [*self.names, *(["*args"] if self.takes_more else []), *(["**kwargs"] if self.takes_any else [])]
        return f"({', '.join(names)})"


def _form_of(parameters: _Parameters, given: Mapping[str, Any]) -> str | None:
    names = parameters.names
    required = [name for name in parameters.required if name not in given]
    if "solution_str" in names:
        return "verl"
    if "solution_strs" in names:
        return "verl_batch"
    if "completions" in names:
        return "trl"
    if parameters.positional[:2] in (["args", "sample"], ["args", "samples"]):
        return "slime" if parameters.positional[1] == "sample" else "slime_batch"
    if parameters.takes_any and not required:
        return "verl"  # a wrapper that hides its function's names; verl passes keywords
    if len(required) == 1 and required[0] in parameters.positional:
        return "items" if required[0] in ("items", "batch") else "item"
    return None


class UserFunction:
    """A function with its form: how it wants its arguments.

    ``form`` is one of item, items, verl, verl_batch, trl, slime, slime_batch, or given: origin, the positional
    (response, ground_truth) of verl's own rules. ``call`` returns what the function returns: an awaitable when ``is_async``.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, arguments: Mapping[str, Any], form: str | None = None
    ) -> None:
        if not callable(function):
            raise FunctionError(f"'{name}' is a {type(function).__name__}, not a function")
        self.function = function
        self.name = name
        self.arguments = dict(arguments)
        self.parameters = _Parameters(function, name)
        form = form or _form_of(self.parameters, self.arguments)
        if form is None:
            raise FunctionError(
                f"the parameters of '{name}', {self.parameters}, fit no form that is known",
                "use (item), (items), verl's (data_source, solution_str, ground_truth, extra_info=None), "
                "TRL's (completions, **kwargs) or slime's (args, sample)",
            )
        self.form = form
        call = function if inspect.isroutine(function) else getattr(type(function), "__call__", function)
        self.is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
        self._verl_columns = list(self.parameters.accepted(_VERL_COLUMNS.get(form, {})).items())
        self._check_arguments()

    @property
    def is_batch(self) -> bool:
        return self.form in ("items", "verl_batch", "trl", "slime_batch")

    def _check_arguments(self) -> None:
        if self.form.startswith("slime"):
            return
        known = _VERL_COLUMNS.get(self.form)
        missing = [n for n in self.parameters.required if n not in self.arguments and known and n not in known]
        if missing:
            raise FunctionError(
                f"'{self.name}' needs '{missing[0]}', which verl's functions are not given",
                f"give it a default, or a value as scorer argument: {missing[0]}=...",
            )
        if self.parameters.takes_any:
            return
        for key in self.arguments:
            if key not in self.parameters.names:
                near = difflib.get_close_matches(key, self.parameters.names, 1)
                raise FunctionError(
                    f"'{self.name}' has no argument '{key}'",
                    f"did you mean '{near[0]}'?" if near else f"its parameters are {self.parameters}",
                )

    def call(self, items: Sequence[Item]) -> Any:
        """Calls the function for ``items``: one of them, unless it is a batch function."""
        return getattr(self, "_call_" + self.form)(items)

    def _call_item(self, items: Sequence[Item]) -> Any:
        return self.function(items[0], **self.arguments)

    def _call_items(self, items: Sequence[Item]) -> Any:
        return self.function(list(items), **self.arguments)

    def _call_verl(self, items: Sequence[Item]) -> Any:
        item = items[0]
        return self.function(**{name: item[key] for name, key in self._verl_columns}, **self.arguments)

    def _call_verl_batch(self, items: Sequence[Item]) -> Any:
        columns = {name: [item[key] for item in items] for name, key in self._verl_columns}
        return self.function(**columns, **self.arguments)

    def _call_origin(self, items: Sequence[Item]) -> Any:
        return self.function(items[0]["response"], items[0]["ground_truth"], **self.arguments)

    def _call_trl(self, items: Sequence[Item]) -> Any:
        values: dict[str, Any] = {
            "prompts": [item["prompt"] for item in items],
            "completions": [_completion(item) for item in items],
            "completion_ids": [item["token_ids"] for item in items],
            "ground_truth": [item["ground_truth"] for item in items],
            "data_source": [item["data_source"] for item in items],
            "extra_info": [item["extra_info"] for item in items],
        }
        for column in dict.fromkeys(key for item in items for key in item["extra_info"]):
            values.setdefault(column, [item["extra_info"].get(column) for item in items])
        for name in self.parameters.required:
            if name not in values and name in _TRUTH_NAMES:
                values[name] = values["ground_truth"]
        for name in ("log_extra", "log_metric"):
            values.setdefault(name, lambda *args, **kwargs: None)
        return self.function(**{**self.parameters.accepted(values), **self.arguments})

    def _call_slime(self, items: Sequence[Item]) -> Any:
        return self.function(SimpleNamespace(**self.arguments), Sample(items[0]))

    def _call_slime_batch(self, items: Sequence[Item]) -> Any:
        return self.function(SimpleNamespace(**self.arguments), [Sample(item) for item in items])

    def reply(self, value: Any, count: int) -> bytes:
        """What the engine is told of ``value``, returned for ``count`` items: JSON, a list of verdicts or of numbers."""
        scores = value if self.is_batch else [value]
        if type(scores) is list and len(scores) == count and all(map(_is_plain, scores)):
            return f"[{','.join([repr(float(score)) for score in scores])}]".encode()
        return encode(self.verdicts(value, count), self.name)

    def verdicts(self, value: Any, count: int) -> list[Verdict]:
        """What ``value``, returned for ``count`` items, says of each."""
        if not self.is_batch:
            return [self._verdict(value)]
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            return [bad_return(f"'{self.name}' returned {_kind(value)} for {count} items instead of a list")] * count
        values = list(value)
        if len(values) != count:
            return [bad_return(f"'{self.name}' returned {len(values)} values for {count} items")] * count
        return [self._verdict(one) for one in values]

    def _verdict(self, value: Any) -> Verdict:
        if value is None and self.form == "trl":
            return {"status": "unscorable", "class": "not_applicable",
                    "message": f"'{self.name}' returned None: this reward does not apply to the item"}
        if self.form == "origin" and isinstance(value, (tuple, list)) and value:
            value = value[0]  # as verl's default_compute_score does
        key = str(self.arguments.get("reward_key") or "score") if self.form.startswith("slime") else "score"
        return verdict_of(value, self.name, key)


def make_item(item: Item) -> Item:
    """Fills in what the engine leaves out because it is the usual case."""
    outputs = item.get("outputs")
    if outputs is None:
        outputs = [{"text": item.get("response")}]
    last = outputs[-1] if outputs else {}
    get = item.get
    return {
        "item_id": item["item_id"],
        "data_source": get("data_source", ""),
        "prompt": get("prompt"),
        "response": last.get("text"),
        "outputs": outputs,
        "token_ids": last.get("token_ids"),
        "ground_truth": get("ground_truth"),
        "extra_info": get("extra_info") or {},
        "group_id": get("group_id"),
        "group_size": get("group_size"),
        "rollout_id": get("rollout_id"),
        "session_id": get("session_id"),
        "index": get("index"),
        "seed": get("seed"),
    }


def _completion(item: Item) -> Any:
    if isinstance(item["prompt"], list):  # TRL: a conversational prompt has a conversational completion
        return [{"role": "assistant", "content": item["response"]}]
    return item["response"]


class Sample(SimpleNamespace):
    """The attributes of slime's ``Sample``."""

    class Status(enum.Enum):
        PENDING = "pending"
        COMPLETED = "completed"
        TRUNCATED = "truncated"
        ABORTED = "aborted"

    def __init__(self, item: Item) -> None:
        tokens = item["token_ids"] or []
        stopped_by_length = bool(item["outputs"]) and item["outputs"][-1].get("stop_reason") == "length"
        super().__init__(
            index=item["index"], group_index=item["group_id"], prompt=item["prompt"], response=item["response"],
            tokens=tokens, response_length=len(tokens), label=item["ground_truth"], metadata=item["extra_info"],
            reward=None, loss_mask=None,
            status=Sample.Status.TRUNCATED if stopped_by_length else Sample.Status.COMPLETED,
        )


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def bad_return(message: str, error_class: str = "bad_return") -> Verdict:
    return {"status": "error", "class": error_class, "message": message[:_MAX_MESSAGE]}


def _number(value: Any) -> float | None:
    """A float of anything that is a number; None when it is none."""
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping)) or value is None:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except Exception:  # whatever a tensor of several elements raises
        return None


def _is_plain(value: Any) -> bool:
    """A score that is nothing but a number."""
    return type(value) in _NUMBERS and -_LARGE < value < _LARGE


def verdict_of(value: Any, name: str, key: str = "score") -> Verdict:
    """The verdict for one item: a number, (number, mapping), or a mapping with ``key``."""
    extra: Mapping[Any, Any] = {}
    score = value
    if isinstance(value, Mapping):
        if key not in value:
            keys = ", ".join(repr(str(k)) for k in list(value)[:8])
            return bad_return(f"'{name}' returned a mapping without '{key}'" + (f" (it has {keys})" if keys else ""))
        score = value[key]
        extra = {k: v for k, v in value.items() if k != key}
    elif isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[1], Mapping):
        score, extra = value
    if score is None:
        return bad_return(f"'{name}' returned no score (None)", "no_score")
    number = _number(score)
    if number is None:
        return bad_return(f"'{name}' returned {_kind(score)} where a number is expected")
    if not math.isfinite(number):
        return bad_return(f"'{name}' returned {number}", "non_finite")
    verdict: Verdict = {"status": "scored", "score": number}
    rest = dict(extra)
    components = rest.pop("components", None)
    if components is not None:
        problem = _take_components(components, verdict)
        if problem:
            return bad_return(f"'{name}' returned {problem}")
    for field in ("reason", "extracted"):
        if isinstance(rest.get(field), str):
            verdict[field] = rest.pop(field)
    if rest:
        verdict["extra"] = rest
    return verdict


def _take_components(components: Any, verdict: Verdict) -> str:
    if not isinstance(components, Mapping):
        return f"components that are {_kind(components)} where a mapping is expected"
    numbers = {}
    for part, value in components.items():
        if value is None:
            continue  # this part does not apply to the item
        number = _number(value)
        if number is None or not math.isfinite(number):
            return f"component {str(part)!r} = {value!r:.100}, which is not a finite number"
        numbers[str(part)] = number
    verdict["components"] = numbers
    return ""


def _plain(value: Any) -> Any:
    """For json.dumps: what is not JSON but says what it is."""
    if hasattr(value, "tolist"):
        return value.tolist()  # NumPy, torch
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "__float__"):
        return float(value)
    raise TypeError(f"a {type(value).__name__} cannot leave the function: it is not JSON")


# json.dumps with arguments makes an encoder each time, which takes longer than a usual reply.
_encoder = json.JSONEncoder(default=_plain, allow_nan=False)


def _without_non_finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _without_non_finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_non_finite(v) for v in value]
    return value


# Without the white space that json.loads allows around a text.
_decoder = json.JSONDecoder()


def decode(body: bytes | memoryview) -> Any:
    """JSON text of the engine."""
    return _decoder.raw_decode(str(body, "utf-8"))[0]


def encode(verdicts: list[Verdict], name: str) -> bytes:
    """The reply of one call; verdicts that cannot be carried become errors that say why."""
    try:
        try:
            text = _encoder.encode(verdicts)
        except ValueError:  # NaN and infinities in extra values are null, as in all JSON that the engine writes
            finite = _without_non_finite(json.loads(json.dumps(verdicts, default=_plain)))
            text = json.dumps(finite, allow_nan=False)
    except MemoryError:
        raise
    except Exception as error:  # TypeError, ValueError, RecursionError, and what a value's own conversion raises
        return encode([bad_return(f"'{name}' returned a value that cannot be carried: {error}")] * len(verdicts), name)
    if len(text) > MAX_REPLY_BYTES:
        message = f"'{name}' returned {len(text)} bytes; the limit is {MAX_REPLY_BYTES}"
        return encode([bad_return(message)] * len(verdicts), name)
    return text.encode()


def exception_verdict(error: BaseException) -> Verdict:
    """What an exception of the user's code says: its type and text, and where it came from."""
    message = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SystemExit):
        message = f"SystemExit: {error.code}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    where = ", ".join(f"{f.filename}:{f.lineno} in {f.name}" for f in reversed(frames[-_MAX_FRAMES:]))
    error_class = "memory_limit" if isinstance(error, MemoryError) else "exception"
    text = message[:_MAX_MESSAGE] + (f" ({where})" if where else "")
    return {"status": "error", "class": error_class, "message": text[: 2 * _MAX_MESSAGE]}


# The package's; a worker has this file without a name.
_FOLDER = os.path.dirname(globals().get("__file__", ""))


def _is_ours(filename: str) -> bool:
    return filename.startswith("<rewardloop") or (_FOLDER != "" and os.path.dirname(filename) == _FOLDER)


def kind_of(error: BaseException) -> str:
    """The same for errors of one type that come from one place, whatever they say."""
    places = [f"{frame.f_code.co_filename}:{line}" for frame, line in traceback.walk_tb(error.__traceback__)]
    return " ".join([type(error).__name__, *places[-_MAX_FRAMES:]])


def traceback_text(error: BaseException) -> str:
    """The traceback without our own frames, for the log."""
    lines = traceback.TracebackException.from_exception(error)
    lines.stack = traceback.StackSummary.from_list([f for f in lines.stack if not _is_ours(f.filename)])
    return "".join(lines.format()).rstrip()
