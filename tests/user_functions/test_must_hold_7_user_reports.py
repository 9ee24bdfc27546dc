"""Must hold 7: what users of other reward code reported, as far as functions are concerned. The reports are those of the
corpus user_reports; rows and functions are our own. 067 (broadcast values) is in test_must_hold_5_forms.py, 078 (names and
import errors) in test_must_hold_4_loading.py."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from uf_helpers import Outcome, read_rows, row, rows

import rewardloop as rl

# --- 044: the same text has another score on every run

DRAWS = """
    import random

    SHARED = random.Random()

    def draws(item):
        r = random.random()
        order = random.sample(range(1000), 5)
        return {"score": float(r < 0.5), "r": r, "order": order, "gauss": random.gauss(0, 1)}

    async def draws_async(item):
        r = random.random()
        await asyncio.sleep(0)
        order = random.sample(range(1000), 5)
        return {"score": float(r < 0.5), "r": r, "order": order, "gauss": random.gauss(0, 1)}

    def sets(item):
        return {"score": 1.0, "order": list({"one", "two", "three", item["item_id"]})}

    def own_generator(item):
        return {"score": 1.0, "r": random.Random(item["seed"]).random()}

    def dies_at_first(item):
        r = random.random()
        marker = os.environ["MARKER"] + item["item_id"]
        if item["item_id"] == "h3" and not os.path.exists(marker):
            open(marker, "w").close()
            os._exit(1)
        return {"score": r, "r": r}
    """


def draw(path: str, function: str, items: list[dict[str, object]], **options: object) -> dict[str, object]:
    with rl.AsyncRewardPipeline(scorer=f"{path}:{function}", **options) as p:
        got = list(p.collect(p.submit(items), timeout=60))
    return {r.item_id: (r.score, r.extra) for r in got}


@pytest.mark.parametrize("function", ["draws", "draws_async", "sets", "own_generator"])
def test_044_draws_depend_on_seed_and_item_only(functions: Callable[..., str], function: str) -> None:
    path = functions(DRAWS)
    items = rows(200)
    first = draw(path, function, items, seed=7, num_workers=1)
    assert draw(path, function, items, seed=7, num_workers=1) == first
    assert draw(path, function, items, seed=7, num_workers=4, threads_per_worker=3) == first
    shuffled = list(items)
    random.Random(1).shuffle(shuffled)
    assert draw(path, function, shuffled, seed=7, num_workers=2) == first
    if function != "sets":
        assert len({json.dumps(value) for value in first.values()}) == 200  # each item has draws of its own
        other = draw(path, function, items, seed=8, num_workers=2)
        assert all(other[name] != first[name] for name in first)


def test_044_a_second_run_after_a_death_draws_the_same(
    functions: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = functions(DRAWS)
    monkeypatch.setenv("MARKER", str(tmp_path / "undisturbed"))
    (tmp_path / "undisturbedh3").touch()
    first = draw(path, "dies_at_first", rows(20), seed=7, num_workers=2)
    monkeypatch.setenv("MARKER", str(tmp_path / "disturbed"))
    assert draw(path, "dies_at_first", rows(20), seed=7, num_workers=2) == first


def test_044_the_seed_is_a_flag_of_the_command(functions: Callable[..., str], write: Callable[..., Path],
                                                cli: Callable[..., Outcome]) -> None:
    path = functions(DRAWS)
    write("rows.jsonl", rows(50))
    command = ("score", "rows.jsonl", "--scorer", f"{path}:draws", "-o", "-", "--seed")
    first = cli(*command, 7, "--num-workers", 1)
    assert first.code == 0 and cli(*command, 7, "--num-workers", 8).raw_out == first.raw_out
    assert cli(*command, 8, "--num-workers", 1).raw_out != first.raw_out


# --- 048: a column that the function needs is missing and the rows get 0

NEEDS_QUESTION = """
    def answered(data_source, solution_str, ground_truth, extra_info=None):
        question = extra_info["question"]
        return float(ground_truth in solution_str and bool(question))
    """


def test_048_a_missing_column_is_an_error_that_names_key_function_and_line(
    functions: Callable[..., str], write: Callable[..., Path], cli: Callable[..., Outcome]
) -> None:
    path = functions(NEEDS_QUESTION)
    whole = [{"response": "42", "ground_truth": "42", "extra_info": {"question": "?"}} for _ in range(10)]
    write("training.jsonl", whole)
    done = cli("score", "training.jsonl", "--scorer", f"{path}:answered", "-o", "-")
    assert (done.code, [r["score"] for r in done.rows()]) == (0, [1.0] * 10)

    write("evaluation.jsonl", [{**one, "extra_info": {}} if i in (1, 4, 7) else one for i, one in enumerate(whole)])
    done = cli("score", "evaluation.jsonl", "--scorer", f"{path}:answered", "-o", "-")
    assert done.code == 1
    got = done.rows()
    assert [r["status"] for r in got] == ["error" if i in (1, 4, 7) else "scored" for i in range(10)]
    for i in (1, 4, 7):
        message = got[i]["error"]["message"]
        assert got[i]["item_id"] == f"line:{i + 1}" and got[i]["score"] is None
        assert "KeyError: 'question'" in message and "in answered" in message and f"{path}:" in message
    assert "line:2" in done.err and "KeyError: 'question'" in done.err


# --- 039: failures count as wrong and are never asked again

RECOVERS = """
    def judged(item):
        executed(item)
        if item["item_id"] in ("h2", "h3") and not os.path.exists(os.environ["RECOVERED"]):
            raise ConnectionError("the judge is down")
        return float(item["item_id"] == "h0")
    """


def test_039_rows_without_a_verdict_stay_out_of_the_mean_and_resume_asks_only_them(
    functions: Callable[..., str], executions: object, write: Callable[..., Path], cli: Callable[..., Outcome], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOVERED", str(tmp_path / "recovered"))
    write("rows.jsonl", rows(4))
    command = ("score", "rows.jsonl", "--scorer", f"{functions(RECOVERS)}:judged", "-o", "out.jsonl", "--summary-json", "summary.json")
    first = cli(*command)
    assert first.code == 1
    assert [r["score"] for r in read_rows(tmp_path / "out.jsonl")] == [1.0, 0.0, None, None]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert 0.5 in [source["mean"] for source in summary["data_sources"]] if isinstance(summary["data_sources"], list) else True
    (tmp_path / "recovered").touch()
    (tmp_path / "executions").unlink()
    assert cli(*command, "--resume").code == 0
    assert sorted((tmp_path / "executions").read_text().split()[::3]) == ["h2", "h3"]
    assert [r["score"] for r in read_rows(tmp_path / "out.jsonl")] == [1.0, 0.0, 0.0, 0.0]


def test_039_no_scorer_at_all_is_a_usage_error(write: Callable[..., Path], cli: Callable[..., Outcome]) -> None:
    write("rows.jsonl", rows(4))
    done = cli("score", "rows.jsonl", "-o", "-")
    assert (done.code, done.out) == (2, "")
    assert "scorer" in done.err


# --- 047: one inactive part of a reward makes the mean NaN


def test_047_a_component_that_is_none_is_missing_and_the_mean_is_over_the_others(
    functions: Callable[..., str], write: Callable[..., Path], cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    path = functions("""
        B = [0.5, None, float("nan"), 0.8, 0.6, 0.7]

        def parts(item):
            return {"score": 1.0, "components": {"b": B[int(item["item_id"][1:])], "c": None}}
        """)
    write("rows.jsonl", [one for i, one in enumerate(rows(6)) if i != 2])
    done = cli("score", "rows.jsonl", "--scorer", f"{path}:parts", "-o", "-", "--summary-json", "summary.json")
    assert done.code == 0, done.err
    assert [r["components"] for r in done.rows()] == [{"b": 0.5}, {}, {"b": 0.8}, {"b": 0.6}, {"b": 0.7}]
    text = (tmp_path / "summary.json").read_text()
    assert "NaN" not in text
    found = json.loads(text)["components"]["b"]
    assert found["mean"] == pytest.approx(0.65) and found["count"] == 4
    write("rows.jsonl", [row("h2")])  # not a number is not "does not apply"
    assert cli("score", "rows.jsonl", "--scorer", f"{path}:parts", "-o", "-").rows()[0]["error"]["class"] == "bad_return"


# --- 070: None, mappings and numbers from one function


def test_070_a_slime_function_may_give_numbers_mappings_and_nothing(functions: Callable[..., str]) -> None:
    path = functions("""
        REPLIES = {"h0": 1.0, "h1": {"score": 0.5, "pred": "x"}, "h2": None}

        async def custom_rm(args, sample, **kwargs):
            return REPLIES["h%d" % sample.index]

        async def keyed(args, sample, **kwargs):
            return {"acc": 0.75, "score": 0.0}
        """)
    items = [row(f"h{i}", group_id="g", group_size=3, index=i) for i in range(3)]
    with rl.AsyncRewardPipeline(scorer=f"{path}:custom_rm", num_workers=1, on_error="drop_group") as p:
        got = p.collect(p.submit(items), timeout=60)
    assert [r.status for r in got] == ["scored", "scored", "error"]
    assert not got.valid.any() and len(got) == 3  # the whole group is masked, none of it is shortened
    with rl.AsyncRewardPipeline(scorer=f"{path}:keyed", scorer_args={"reward_key": "acc"}, num_workers=1) as p:
        assert p.collect(p.submit(items[:1]), timeout=60).scores.tolist() == [0.75]


# --- 079: the scorer has an option and no configuration reaches it

OPTION = """
    def found(item, method="strict"):
        '''Whether the response ends with the ground truth.'''
        if method not in ("strict", "flexible"):
            raise ValueError("method is strict or flexible")
        text = item["response"]
        return float(item["ground_truth"] in text if method == "flexible" else text.endswith("#### " + item["ground_truth"]))
    """


def test_079_an_option_has_its_effect_by_flag_by_file_and_from_python(
    functions: Callable[..., str], write: Callable[..., Path], cli: Callable[..., Outcome]
) -> None:
    path = functions(OPTION)
    item = {"item_id": "a", "response": "It is 42.", "ground_truth": "42"}
    write("rows.jsonl", [item])
    for method, score in (("strict", 0.0), ("flexible", 1.0)):
        write("rewards.yaml", f"scorer: {path}:found\nscorer_args: {{method: {method}}}\n")
        by_flag = cli("score", "rows.jsonl", "--scorer", f"{path}:found", "--scorer-arg", f"method={method}", "-o", "-")
        by_file = cli("score", "rows.jsonl", "-c", "rewards.yaml", "-o", "-")
        with rl.AsyncRewardPipeline(scorer=f"{path}:found", scorer_args={"method": method}, num_workers=1) as p:
            (result,) = p.collect(p.submit([item]), timeout=60)
        assert [by_flag.rows()[0]["score"], by_file.rows()[0]["score"], result.score] == [score] * 3


def test_079_list_and_explain_say_how_arguments_are_given(
    functions: Callable[..., str], cli: Callable[..., Outcome]
) -> None:
    path = functions(OPTION)
    for command in (("list", "--scorer"), ("explain",)):
        done = cli(*command, f"{path}:found")
        assert done.code == 0, done.err
        assert "--scorer-arg NAME=VALUE" in done.out and f"{path}:found" in done.out
    answer = cli("explain", f"{path}:found", "--response", "It is 42.", "--ground-truth", "42", "--scorer-arg", "method=flexible")
    assert answer.code == 0 and "scored 1" in answer.out, answer.err
