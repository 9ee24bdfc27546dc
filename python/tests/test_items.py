"""Items as dicts: what is accepted, and what each refusal says."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import rewardloop as rl


def score(**item: Any) -> rl.RewardResult:
    return rl.Scorer("gsm8k").score(item)


def refusal(pipeline: rl.AsyncRewardPipeline, *given: Any) -> str:
    with pytest.raises(ValueError) as caught:
        pipeline.submit(list(given))
    return str(caught.value)


@pytest.mark.parametrize("answer", [
    {"response": "#### 42"},
    {"solution_str": "#### 42"},
    {"outputs": [{"text": "#### 42"}]},
    {"outputs": ["#### 41", "#### 42"]},  # the last one is the answer
    {"outputs": ({"text": "#### 42", "token_ids": [1, 2], "num_tokens": 2, "stop_reason": "stop"},)},
    {"response": "#### 42", "num_tokens": 2, "token_ids": np.array([1, 2]), "stop_reason": None},
])
def test_ways_to_give_an_answer(answer: dict[str, Any]) -> None:
    assert score(ground_truth="42", **answer).score == 1.0


def test_a_null_response_is_legal() -> None:
    result = score(response=None, ground_truth="42")
    assert (result.status, result.score, result.extracted) == ("scored", 0.0, None)


@pytest.mark.parametrize("item_id, expected", [("a", "a"), (7, "7"), (np.int64(8), "8"), ("ключ", "ключ")])
def test_item_ids(item_id: Any, expected: str) -> None:
    assert score(item_id=item_id, response="#### 1", ground_truth="1").item_id == expected


def test_an_item_without_id_is_named_by_its_position(pipeline: rl.AsyncRewardPipeline) -> None:
    handle = pipeline.submit([{"response": "#### 1", "ground_truth": "1"}] * 3)
    assert [r.item_id for r in pipeline.collect(handle)] == ["item:0", "item:1", "item:2"]


def test_any_iterable_and_any_mapping_is_taken(pipeline: rl.AsyncRewardPipeline) -> None:
    rows = (types.MappingProxyType({"item_id": str(i), "response": f"#### {i}", "ground_truth": str(i)}) for i in range(3))
    assert [r.score for r in pipeline.collect(pipeline.submit(rows))] == [1.0, 1.0, 1.0]


def test_typed_dict_items(pipeline: rl.AsyncRewardPipeline) -> None:
    item = rl.RewardItem(item_id="a", response="#### 5", ground_truth="5")
    assert pipeline.collect(pipeline.submit([item]))[0].score == 1.0


@pytest.mark.parametrize("bad, message", [
    ({"respones": "x"}, "items[1]: unknown field 'respones' (did you mean 'response'?"),
    ({"response": 3}, "items[1]: response must be a string or None, not int"),
    ({"response": "a", "outputs": []}, "items[1]: both response and outputs are given"),
    ({"outputs": "abc"}, "items[1]: outputs must be a list"),
    ({"outputs": [{"txt": "abc"}]}, "items[1]: outputs[0].unknown field 'txt'"),
    ({"ground_truth": object()}, "items[1]: ground_truth: a object is not JSON"),
    ({"ground_truth": float("nan")}, "items[1]: ground_truth: NaN is not JSON"),
    ({"ground_truth": {"a": [1, b"x"]}}, "items[1]: ground_truth['a'][1]: bytes are not JSON"),
    ({"ground_truth": {1.5: 2}}, "items[1]: ground_truth: keys must be strings, not float"),
    ({"extra_info": [1]}, "items[1]: extra_info must be a dict or None, not list"),
    ({"item_id": ""}, "items[1]: item_id must not be empty"),
    ({"item_id": True}, "items[1]: item_id must be a string or an integer, not bool"),
    ({"group_size": 0}, "items[1]: group_size must be at least 1"),
    ({"group_size": "8"}, "items[1]: group_size must be an integer, not str"),
    ({"index": 2**64}, "items[1]: index does not fit into 64 bits"),
    ({"outputs": [{"token_ids": [2**40]}]}, "is no token id"),
    ({"outputs": ["a"], "num_tokens": 1}, "go into the entries of outputs"),
    ({3: 4}, "items[1]: keys must be strings, not int"),
    ("text", "items[1]: an item must be a dict, not str"),
])
def test_bad_items_are_named(pipeline: rl.AsyncRewardPipeline, bad: Any, message: str) -> None:
    assert message in refusal(pipeline, {"item_id": "good", "response": "", "ground_truth": "1"}, bad)


def test_items_must_be_a_list(pipeline: rl.AsyncRewardPipeline) -> None:
    with pytest.raises(ValueError, match="one item goes into a list"):
        pipeline.submit({"response": "x"})  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        pipeline.submit(3)  # type: ignore[arg-type]


def test_duplicate_ids_are_named(pipeline: rl.AsyncRewardPipeline) -> None:
    assert "'a'" in refusal(pipeline, {"item_id": "a", "response": ""}, {"item_id": "a", "response": ""})


def test_zero_items(pipeline: rl.AsyncRewardPipeline) -> None:
    results = pipeline.collect(pipeline.submit([]), timeout=10)
    assert results == [] and results.scores.shape == (0,) and results.valid.dtype == np.bool_


@pytest.mark.parametrize("truth", [
    "42", 42, np.int64(42), np.int32(42), np.array("42"), np.str_("42"),
])
def test_ground_truth_scalars(truth: Any) -> None:
    assert rl.verify(truth, r"\boxed{42}").score == 1.0


def test_integers_of_any_size_keep_their_value() -> None:
    big = 10**40 + 7
    assert rl.verify(big, rf"\boxed{{{big}}}").score == 1.0
    assert rl.verify(big, rf"\boxed{{{big + 1}}}").score == 0.0


def test_too_deep_nesting_is_refused() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ValueError, match="1024 levels"):
        score(response="", ground_truth=deep)
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match="1024 levels"):
        score(response="", ground_truth=cycle)


def test_lone_surrogates_nul_bytes_and_long_texts_are_data() -> None:
    assert score(response="\ud800 \udfff #### 7\ud83d", ground_truth="7").status == "scored"
    assert score(response="\x00#### 7", ground_truth="7").score == 1.0
    assert score(response="x" * 10_000_000 + "\n#### 7", ground_truth="7").score == 1.0
    result = rl.Scorer("gsm8k").score({"item_id": "\udc80", "response": "", "ground_truth": "\ud800"})
    assert result.item_id == "\ufffd"


def test_text_is_copied_at_submit(pipeline: rl.AsyncRewardPipeline) -> None:
    item = {"item_id": "a", "response": "#### 1", "ground_truth": "1", "extra_info": {"k": [1]}}
    handle = pipeline.submit([item])
    item.clear()
    assert pipeline.collect(handle)[0].score == 1.0
