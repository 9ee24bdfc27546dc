"""rl.verify, rl.verify_batch, rl.math and rl.Scorer."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from conftest import items

import rewardloop as rl


def test_the_call_of_the_design() -> None:
    result = rl.verify("1/2", r"so \boxed{0.5}")
    assert result.status == "scored" and result.score == 1.0 and result.extracted == "0.5"
    assert result.error is None and result.reason and result.scorer == "math"


@pytest.mark.parametrize("gold, prediction, expected", [
    ("7", "#### 7", 1.0),
    (7, "The answer is \\boxed{7}", 1.0),
    (0.5, "\\boxed{\\frac12}", 1.0),
    ("7", "\\boxed{8}", 0.0),
    ("7", "no idea", 0.0),
    ("7", "", 0.0),
    ("7", None, 0.0),
])
def test_verdicts(gold: Any, prediction: str | None, expected: float) -> None:
    assert rl.verify(gold, prediction).score == expected


@pytest.mark.parametrize("gold", ["", None])
def test_a_gold_that_cannot_be_read_never_pays(gold: str | None) -> None:
    result = rl.verify(gold, "\\boxed{}")
    assert (result.status, result.score) == ("unscorable", None)
    assert result.error is not None and result.error.class_ in {"no_ground_truth", "bad_ground_truth"}


def test_a_list_of_accepted_golds() -> None:
    assert rl.verify(["3", "4"], r"\boxed{4}").score == 1.0
    assert rl.verify(["3", "4"], r"\boxed{5}").score == 0.0


def test_arguments_are_those_of_the_scorer() -> None:
    assert rl.verify("0.33", r"\boxed{1/3}", profile="strict").score == 0.0
    assert rl.verify("42", "It is 42 in all", profile="gsm8k_flexible").score == 1.0
    with pytest.raises(ValueError, match="profile"):
        rl.verify("1", "1", profle="strict")
    with pytest.raises(ValueError, match="strict"):
        rl.verify("1", "1", profile="strickt")
    with pytest.raises(ValueError, match="prediction must be a string"):
        rl.verify("1", 1)  # type: ignore[arg-type]


def test_same_verdict_as_the_pipeline() -> None:
    rows = [{"ground_truth": "1/2", "response": text} for text in (r"\boxed{0.5}", r"\boxed{0.6}", "nothing")]
    piped = rl.score(rows, scorer="math").results
    direct = [rl.verify("1/2", row["response"]) for row in rows]
    for a, b in zip(piped, direct, strict=True):
        assert (a.status, a.score, a.extracted, a.reason, a.scorer_version) == (
            b.status, b.score, b.extracted, b.reason, b.scorer_version)


def test_batches() -> None:
    golds = [str(i) for i in range(1000)]
    predictions = [rf"\boxed{{{i + (i % 10 == 0)}}}" for i in range(1000)]
    expected = [float(i % 10 != 0) for i in range(1000)]
    for threads in (0, 1, 4):
        results = rl.verify_batch(golds, predictions, threads=threads)
        assert results.scores.tolist() == expected and results.valid.all()
    assert rl.verify_batch("3", ["\\boxed{3}", None, "\\boxed{4}"]).scores.tolist() == [1.0, 0.0, 0.0]
    assert rl.verify_batch([], []) == [] == rl.verify_batch("3", [])
    with pytest.raises(ValueError, match="2 golds for 3 predictions"):
        rl.verify_batch(["1", "2"], ["1", "2", "3"])
    with pytest.raises(ValueError, match="1 golds for 3 predictions"):
        rl.verify_batch(["1"], ["1", "2", "3"])


def test_extract() -> None:
    found = rl.math.extract("é: so \\boxed{\\frac{1}{2}}.")
    assert found.text == "\\frac{1}{2}" and found.anchor == "boxed" and found.span is not None
    begin, end = found.span
    assert "é: so \\boxed{\\frac{1}{2}}."[begin:end] == found.text
    assert rl.math.extract("").text is None


def test_compare() -> None:
    assert rl.math.compare("1/2", "0.5") and not rl.math.compare("1/2", "0.6")
    same = rl.math.compare("1/2", "0.5")
    assert same.outcome == "equal" and same.score == 1.0 and same.fuel_used > 0
    assert rl.math.compare("", "1").outcome == "bad_gold" and rl.math.compare("", "1").score is None


def test_explain() -> None:
    told = rl.math.explain("1/2", r"so \boxed{0.5}")
    assert told.outcome == "equal" and told.extracted == "0.5"
    assert told.gold_form and told.prediction_form and told.gold_type


def test_vote() -> None:
    texts = [r"\boxed{0.5}", r"\boxed{2}", None, r"\boxed{\frac12}", ""]
    vote = rl.math.vote(texts)
    assert vote.class_of == [0, 1, None, 0, None] and vote.class_size == [2, 1]
    assert (vote.winner, vote.representative, vote.answer) == (0, 0, texts[0])
    assert rl.math.vote([]).winner is None and rl.math.vote([""]).answer is None


def test_math_arguments() -> None:
    assert "strict" in rl.math.PROFILES
    assert not rl.math.compare("0.33", "1/3", profile="strict")
    with pytest.raises(ValueError, match="did you mean 'ordered_lists'"):
        rl.math.compare("1", "1", ordered_list=True)
    with pytest.raises(ValueError, match="fuel"):
        rl.math.compare("1", "1", fuel=0)


def test_scorers_without_an_engine() -> None:
    scorer = rl.Scorer("gsm8k", method="flexible")
    assert scorer.score({"response": "It is 42.", "ground_truth": "42"}).score == 1.0
    assert scorer.score_batch(items(200, wrong=(5,)), threads=2).scores.sum() == 199
    again = pickle.loads(pickle.dumps(scorer))
    assert again.name == "gsm8k" and again.version == scorer.version and again.args == {"method": "flexible"}
    with pytest.raises(KeyError, match="did you mean 'gsm8k'"):
        rl.Scorer("gsm9k")


def test_lists_of_scorers_and_managers() -> None:
    scorers = {entry["name"]: entry for entry in rl.list_scorers()}
    assert {"gsm8k", "math", "verl/gsm8k"} <= set(scorers)
    (method,) = [arg for arg in scorers["gsm8k"]["args"] if arg["name"] == "method"]
    assert set(method["choices"]) >= {"strict", "flexible"} and method["doc"] and method["type"] == "string"
    assert {"naive", "batch", "dapo"} <= {entry["name"] for entry in rl.list_managers()}


def test_verdicts_do_not_depend_on_threads() -> None:
    golds = [f"{i}/7" for i in range(300)]
    texts = [rf"\boxed{{\frac{{{i}}}{{7}}}}" for i in range(300)]
    one, many = (rl.verify_batch(golds, texts, threads=n) for n in (1, 8))
    assert np.array_equal(one.scores, many.scores) and one.scores.all()


POLICIES = ["gold_precision", "rounded_ok", "percent_as_number", "unit_required", "ordered_lists", "relation_for_set",
            "base_value", "allow_unevaluated", "unreduced_quotients", "last_expression", "symmetric", "repair_gold",
            "strict_names", "consistent_steps"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("value", [False, True])
def test_every_policy_is_an_argument(policy: str, value: bool) -> None:
    args: dict[str, Any] = {policy: value}
    assert rl.verify("7", r"\boxed{7}", **args).score == 1.0
    assert rl.math.compare("7", "7", **args)
    assert policy in {arg["name"] for scorer in rl.list_scorers() if scorer["name"] == "math" for arg in scorer["args"]}


def test_policies_decide() -> None:
    assert rl.verify("649", r"\boxed{3245/5}").score == 1.0
    assert rl.verify("649", r"\boxed{3245/5}", unreduced_quotients=False).score == 0.0
    assert rl.verify(r"\frac{1}{2", r"\boxed{0.5}").score == 1.0
    assert rl.verify(r"\frac{1}{2", r"\boxed{0.5}", repair_gold=False).status == "unscorable"
    assert rl.verify("7", r"\boxed{x = 3+3 = 7}").score == 0.0
    assert rl.verify("7", r"\boxed{x = 3+3 = 7}", consistent_steps=False).score == 1.0


def test_a_batch_of_all_sorts_says_what_single_calls_say() -> None:
    golds: list[Any] = ["1/2", None, ["3", "4"], 7, "", r"\frac{1}{", "A", "1/2", "\ud800", r"\sum_{n=1}^\infty \frac{1}{n^2}"] * 60
    texts: list[str | None] = [r"\boxed{0.5}", "x", r"\boxed{4}", "#### 7", "1", "2", "(A)", None, "é \ud800 \\boxed{1}",
                               r"\boxed{\frac{\pi^2}{6}}"] * 60
    for threads in (1, 3):
        batch = rl.verify_batch(golds, texts, threads=threads)
        assert len(batch) == len(golds)
        for i, (gold, text, result) in enumerate(zip(golds, texts, batch)):
            single = rl.verify(gold, text)
            assert (result.item_id, result.status, result.score) == (f"item:{i}", single.status, single.score)
            assert (result.reason, result.extracted, result.scorer, result.scorer_version, result.valid, result.extra) == (
                single.reason, single.extracted, single.scorer, single.scorer_version, single.valid, single.extra)
        assert np.isnan(batch.scores[1]) and batch.scores[0] == 1.0


def test_a_text_is_no_list_of_predictions() -> None:
    with pytest.raises(rl.ArgumentError, match=r"predictions must be a list of texts.*rl\.verify"):
        rl.verify_batch("1", r"\boxed{1}")


@pytest.mark.parametrize("gold", [3, 3.0, "3", np.int64(3), np.float32(3)])
def test_a_single_gold_of_a_batch(gold: Any) -> None:
    assert rl.verify_batch(gold, [r"\boxed{3}", r"\boxed{4}"]).scores.tolist() == [1.0, 0.0]


def test_a_batch_without_a_gold_is_unscorable() -> None:
    assert [r.status for r in rl.verify_batch(None, [r"\boxed{3}"] * 2)] == ["unscorable"] * 2


def test_arguments_may_be_numpy_values() -> None:
    assert rl.verify("3 m", r"\boxed{3}", unit_required=np.True_).score == rl.verify("3 m", r"\boxed{3}", unit_required=True).score
    with pytest.raises(rl.ArgumentError, match="set is not JSON"):
        rl.verify("1", "1", profile={1})
