"""Results: statuses, values, arrays without copies, pickles."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import items

import rewardloop as rl


def test_fields_of_a_scored_result(pipeline: rl.AsyncRewardPipeline) -> None:
    (result,) = pipeline.collect(pipeline.submit(items(1, group_id="g")))
    assert type(result.status) is str and result.status == "scored" and result.status in rl.STATUSES
    assert type(result.score) is float and result.score == 1.0 and result.valid and not result.policy_value
    assert result.item_id == "q0" and result.extracted == "0" and result.error is None
    assert type(result.extra) is dict and type(result.components) is dict
    assert type(result.reason) is str and len(result.digest) == 32 and int(result.digest, 16) != 0
    assert result.scorer == "gsm8k" and result.scorer_version
    assert result.group_id == "g" and result.step == 0 and result.submit > 0
    timing = result.timing
    assert 0 < timing.queued <= timing.started <= timing.finished and timing.attempts == 1
    assert "q0" in repr(result) and "scored" in repr(result) and "attempts=1" in repr(timing)


def test_a_missing_ground_truth_is_unscorable_never_zero() -> None:
    results = rl.score([{"response": "#### 1", "ground_truth": None}], scorer="gsm8k", on_error="null").results
    (result,) = results
    assert result.status == "unscorable" and result.score is None and not result.valid
    error = result.error
    assert error is not None
    assert error.error_class == error.class_ == error["class"] == getattr(error, "class") == "no_ground_truth"
    assert error.message == error["message"] and error.retryable is error["retryable"] is False
    assert error.to_dict() == {"class": "no_ground_truth", "message": error.message, "retryable": False}
    with pytest.raises(KeyError):
        error["nothing"]
    with pytest.raises(AttributeError):
        error.nothing


def test_a_missing_score_is_nan_and_masked() -> None:
    rows = items(3, wrong=(1,))
    rows[2]["ground_truth"] = None
    report = rl.score(rows, scorer="gsm8k", on_error="null")
    assert report.scores.dtype == np.float64 and report.valid.dtype == np.bool_
    assert report.scores[:2].tolist() == [1.0, 0.0] and np.isnan(report.scores[2])
    assert report.valid.tolist() == [True, True, False]


def test_arrays_share_memory_and_outlive_their_results(pipeline: rl.AsyncRewardPipeline) -> None:
    results = pipeline.collect(pipeline.submit(items(1000, wrong=(3,))))
    scores, valid = results.scores, results.valid
    assert np.shares_memory(scores, results.scores) and np.shares_memory(valid, results.valid)
    assert not scores.flags.owndata and scores.flags.c_contiguous and scores.flags.writeable
    del results
    gc.collect()
    assert scores.sum() == 999 and scores[3] == 0 and valid.all()


def test_a_result_outlives_its_batch(pipeline: rl.AsyncRewardPipeline) -> None:
    result = pipeline.collect(pipeline.submit(items(100)))[57]
    gc.collect()
    assert result.item_id == "q57"


def test_extra_and_components_are_made_once(pipeline: rl.AsyncRewardPipeline) -> None:
    (result,) = pipeline.collect(pipeline.submit(items(1)))
    result.extra["mine"] = result  # a cycle that the garbage collector must be able to end
    assert result.extra["mine"] is result and result.components is result.components


def test_results_errors_and_lists_pickle(pipeline: rl.AsyncRewardPipeline) -> None:
    rows = items(3, wrong=(1,), group_id="g")
    rows[2]["ground_truth"] = None
    with pytest.raises(rl.RewardError) as caught:
        pipeline.collect(pipeline.submit(rows))
    results = caught.value.results
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(results, protocol))
        assert type(again) is rl.Results and again == results
        assert np.array_equal(again.scores, results.scores, equal_nan=True)
        assert np.array_equal(again.valid, results.valid)
    assert copy.deepcopy(results[0]) == results[0] != results[1]
    assert hash(results[0]) == hash(copy.copy(results[0]))
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value) and error.results == results
    assert pickle.loads(pickle.dumps(results[2].error)) == results[2].error


def test_what_a_policy_masked_stays_masked_in_a_pickle() -> None:
    rows = [{"item_id": "a", "group_id": "g", "response": "#### 1", "ground_truth": "1"},
            {"item_id": "b", "group_id": "g", "response": "#### 1", "ground_truth": None}]
    report = rl.score(rows, scorer="gsm8k", on_error="drop_group")
    assert report.scores[0] == 1.0
    for restored in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert restored.valid.tolist() == report.valid.tolist() == [False, False]


def test_timings_pickle(pipeline: rl.AsyncRewardPipeline) -> None:
    timing = pipeline.collect(pipeline.submit(items(1)))[0].timing
    for restored in (pickle.loads(pickle.dumps(timing)), copy.deepcopy(timing)):
        assert restored.to_dict() == timing.to_dict()


def test_to_dict_has_plain_values(pipeline: rl.AsyncRewardPipeline) -> None:
    (result,) = pipeline.collect(pipeline.submit(items(1)))
    plain = result.to_dict()
    assert plain["item_id"] == "q0" and plain["score"] == 1.0 and plain["error"] is None
    assert set(plain["timing"]) == {"queued", "started", "finished", "attempts"}


def test_same_extra_keys_in_every_row() -> None:
    rows: list[dict[str, Any]] = items(2)
    rows[0]["data_source"], rows[1]["data_source"] = "a", "b"
    sources = {"a": "verl/math_dapo", "b": "gsm8k"}
    with rl.AsyncRewardPipeline(data_sources=sources) as pipeline:
        first, second = pipeline.collect(pipeline.submit(rows))
    assert list(first.extra) == list(second.extra) and first.extra["acc"] is not None
    assert second.extra["acc"] is None
