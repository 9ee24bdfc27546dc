"""Must hold 5: functions as verl, TRL and slime take them run unchanged, from the command line and from Python."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from uf_helpers import SOURCE_DIR, Outcome, row, rows

import rewardloop as rl

EXAMPLES = SOURCE_DIR / "examples/user_functions"
ROWS = [json.loads(line) for line in (EXAMPLES / "rows.jsonl").read_text().splitlines()]

# By reading the functions: row a is right and has thoughts, b is wrong, c has no tags, d is empty.
EXPECTED: dict[str, list[float | None]] = {
    "plain_reward.py:score": [1.0, 0.0, 0.0, 0.0],
    "batch_reward.py:score": [1.0, 0.25, 0.75, 0.0],  # 6, 1, 3 and 0 words, of 4
    "verl_reward.py:compute_score": [1.0, -1.0, -1.0, -1.0],
    "trl_reward.py:correctness": [1.0, 0.0, 0.0, 0.0],
    "trl_reward.py:has_thoughts": [0.5, 0.0, 0.0, None],
    "slime_reward.py:reward": [1.0, 0.0, 0.0, 0.0],
    "slime_reward.py:reward_group": [1.0, 0.0, 0.0, 0.0],
}
EXTRA = {
    "verl_reward.py:compute_score": {"acc": True, "difficulty": 1},
    "slime_reward.py:reward": {"pred": "42"},
    "plain_reward.py:score": {},
}


@pytest.mark.parametrize("function", EXPECTED)
@pytest.mark.parametrize("manager", ["naive", "batch"])
def test_example_runs_unchanged_from_python(function: str, manager: str) -> None:
    with rl.AsyncRewardPipeline(scorer=str(EXAMPLES / function), manager=manager, num_workers=1, on_error="null") as p:
        got = p.collect(p.submit(ROWS), timeout=60)
    assert [r.score for r in got] == EXPECTED[function]
    if function in EXTRA:
        assert got[0].extra == EXTRA[function]
    for result in got:
        if result.score is None:
            assert result.error is not None
            assert (result.status, result.error.class_) == ("unscorable", "not_applicable")


@pytest.mark.parametrize("function", EXPECTED)
def test_example_runs_unchanged_from_the_command_line(cli: Callable[..., Outcome], function: str) -> None:
    done = cli("score", EXAMPLES / "rows.jsonl", "--scorer", EXAMPLES / function, "--num-workers", "1", "-o", "-")
    assert [r["score"] for r in done.rows()] == EXPECTED[function], done.err
    assert done.code == (1 if None in EXPECTED[function] else 0)


FORMS = """
    import functools

    def item(item): return 1.0
    def anything(sample): return 1.0
    def items(items): return [1.0] * len(items)
    def batch(batch): return [1.0] * len(batch)
    def verl(data_source, solution_str, ground_truth, extra_info=None): return 1.0
    def verl_short(solution_str, ground_truth): return 1.0
    def verl_more(data_source, solution_str, ground_truth, extra_info=None, reward_router_address=None, **kw): return 1.0
    def verl_batch(data_sources, solution_strs, ground_truths, extra_infos): return [1.0] * len(solution_strs)
    def trl(completions, **kwargs): return [1.0] * len(completions)
    def trl_column(prompts, completions, answer, **kwargs): return [float(a is not None) for a in answer]
    def slime(args, sample): return 1.0
    def slime_more(args, sample, **kwargs): return {"score": 1.0}
    def slime_group(args, samples): return [1.0] * len(samples)

    @functools.wraps(verl)
    def wrapped(*args, **kwargs): return verl(*args, **kwargs)
    def hidden(**kwargs): return verl(**kwargs)
    partial = functools.partial(verl_more, reward_router_address="x")

    class Judge:
        def __call__(self, item): return 1.0
        def method(self, item): return 1.0
    judge = Judge()

    class AsyncJudge:
        async def __call__(self, item): return 1.0
    async_judge = AsyncJudge()

    def two(first, second): return 1.0
    def none(): return 1.0
    NUMBER = 3
    """
NAMES = ["item", "anything", "items", "batch", "verl", "verl_short", "verl_more", "verl_batch", "trl", "trl_column", "slime",
         "slime_more", "slime_group", "wrapped", "hidden", "partial", "judge", "judge.method", "async_judge"]


def test_every_form_is_recognised(functions: Callable[..., str]) -> None:
    path = functions(FORMS)
    for name in NAMES:
        with rl.AsyncRewardPipeline(scorer=f"{path}:{name}", num_workers=1) as p:
            got = p.collect(p.submit(rows(2, data_source="any")), timeout=60)
        assert got.scores.tolist() == [1.0, 1.0], name


@pytest.mark.parametrize(("name", "text"), [("two", "first, second"), ("none", "()"), ("NUMBER", "int")])
def test_a_form_that_nobody_knows_is_one_error(functions: Callable[..., str], name: str, text: str) -> None:
    with pytest.raises(rl.ArgumentError) as caught:
        rl.AsyncRewardPipeline(scorer=f"{functions(FORMS)}:{name}", num_workers=1)
    assert text in str(caught.value) and f":{name}" in str(caught.value)


COUNTS = """
    import json

    def trl(completions, how, **kwargs):
        return json.loads(how[0])

    def items(items):
        return json.loads(items[0]["extra_info"]["how"])

    def verl_batch(data_sources, solution_strs, ground_truths, extra_infos):
        return json.loads(extra_infos[0]["how"])

    def slime_group(args, samples):
        return json.loads(samples[0].metadata["how"])
    """


@pytest.mark.parametrize("form", ["trl", "items", "verl_batch", "slime_group"])
@pytest.mark.parametrize(("returned", "count"), [([1.0], 1), ([1.0] * 4, 4), ([], 0)])
def test_a_wrong_number_of_values_is_an_error_with_both_counts(
    functions: Callable[..., str], form: str, returned: list[float], count: int
) -> None:
    items = rows(3, extra_info={"how": json.dumps(returned)})
    with rl.AsyncRewardPipeline(scorer=f"{functions(COUNTS)}:{form}", manager="batch", num_workers=1, on_error="null") as p:
        got = p.collect(p.submit(items), timeout=60)
    for result in got:
        # One value for three items is refused; asked again one by one, one value is what one item needs. Never is it spread.
        if count == 1:
            assert result.score in (None, 1.0)
        else:
            assert result.error is not None and result.score is None
            assert result.error.class_ == "bad_return"
            assert f":{form}'" in result.error.message and f"{count} values for 1 items" in result.error.message


def test_one_value_of_a_batch_that_is_none_or_text_is_that_items_own(functions: Callable[..., str]) -> None:
    path = functions("""
        def trl(completions, **kwargs):
            return [{"text of h0": "high", "text of h1": None}.get(c, 1.0) for c in completions]
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:trl", manager="batch", num_workers=1, on_error="null") as p:
        got = p.collect(p.submit(rows(3)), timeout=60)
    assert [r.status for r in got] == ["error", "unscorable", "scored"]
    assert [r.score for r in got] == [None, None, 1.0]


def test_an_exception_of_a_batch_is_only_that_of_the_items_that_raise(functions: Callable[..., str]) -> None:
    path = functions("""
        def together(items):
            return [1.0 / len(item["response"].replace("text of h3", "")) for item in items]
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:together", manager="batch", num_workers=1, on_error="null") as p:
        got = p.collect(p.submit(rows(6)), timeout=60)
    assert [r.status for r in got] == ["scored"] * 3 + ["error"] + ["scored"] * 2
    assert got[3].error is not None and "ZeroDivisionError" in got[3].error.message


def test_the_item_has_the_fields_that_the_documentation_names(functions: Callable[..., str]) -> None:
    path = functions("""
        def looks(item):
            return {"score": 1.0, "item": {k: v for k, v in item.items() if k != "seed"}, "seed": item["seed"]}
        """)
    given: dict[str, Any] = {
        "item_id": "a", "data_source": "d", "prompt": [{"role": "user", "content": "?"}], "group_id": "g", "group_size": 1,
        "rollout_id": "r", "session_id": "s", "index": 3, "ground_truth": {"target": ["1", 2, None]}, "extra_info": {"k": [1.5]},
        "outputs": [{"text": "first"}, {"text": "second \\ud800 \U0001f600", "token_ids": [1, 2], "num_tokens": 2, "stop_reason": "stop"}],
    }
    with rl.AsyncRewardPipeline(scorer=f"{path}:looks", num_workers=1) as p:
        (result,) = p.collect(p.submit([given]), timeout=60)
    item = result.extra["item"]
    for name in ("item_id", "data_source", "prompt", "group_id", "group_size", "rollout_id", "session_id", "index",
                 "ground_truth", "extra_info"):
        assert item[name] == given[name], name
    assert item["response"] == given["outputs"][1]["text"]
    assert item["token_ids"] == [1, 2]
    assert [output["text"] for output in item["outputs"]] == ["first", given["outputs"][1]["text"]]
    assert isinstance(result.extra["seed"], int)


def test_what_is_missing_is_none(functions: Callable[..., str]) -> None:
    path = functions("""
        def looks(item):
            return {"score": 1.0, "item": {k: v for k, v in item.items() if k != "seed"}}
        """)
    with rl.AsyncRewardPipeline(scorer=f"{path}:looks", num_workers=1) as p:
        (result,) = p.collect(p.submit([{"item_id": "a", "response": None}]), timeout=60)
    item = result.extra["item"]
    assert item["response"] is None and item["ground_truth"] is None and item["prompt"] is None
    assert (item["data_source"], item["extra_info"], item["group_id"]) == ("", {}, None)


def test_scorer_args_are_keywords_in_every_form(functions: Callable[..., str], write: Callable[..., Path],
                                                cli: Callable[..., Outcome]) -> None:
    path = functions("""
        def plain(item, weight=1.0): return weight
        def verl(data_source, solution_str, ground_truth, extra_info=None, weight=1.0): return weight
        def trl(completions, weight=1.0, **kwargs): return [weight] * len(completions)
        def slime(args, sample): return args.weight
        """)
    for name in ("plain", "verl", "trl", "slime"):
        with rl.AsyncRewardPipeline(scorer=f"{path}:{name}", scorer_args={"weight": 0.5}, num_workers=1) as p:
            assert p.collect(p.submit(rows(1)), timeout=60).scores.tolist() == [0.5], name
    write("rows.jsonl", rows(1))
    done = cli("score", "rows.jsonl", "--scorer", f"{path}:plain", "--scorer-arg", "weight=0.5", "-o", "-")
    assert [r["score"] for r in done.rows()] == [0.5], done.err
    typo = cli("score", "rows.jsonl", "--scorer", f"{path}:plain", "--scorer-arg", "weigth=0.5", "-o", "-")
    assert typo.code == 2 and typo.out == ""
    assert "weigth" in typo.err and "weight" in typo.err.replace("weigth", "")


def test_rows_are_the_functions_own_to_change(functions: Callable[..., str]) -> None:
    path = functions("""
        def changes(item):
            item["extra_info"]["seen"] = item["extra_info"].get("seen", 0) + 1
            item["response"] = "changed"
            return item["extra_info"]["seen"]
        """)
    shared = {"a": 1}
    items = [row("a", extra_info=shared), row("b", extra_info=shared)]
    with rl.AsyncRewardPipeline(scorer=f"{path}:changes", num_workers=1) as p:
        assert p.collect(p.submit(items), timeout=60).scores.tolist() == [1.0, 1.0]
        assert p.collect(p.submit(items), timeout=60).scores.tolist() == [1.0, 1.0]
    assert shared == {"a": 1} and items[0]["response"] == "text of a"
