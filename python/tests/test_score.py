"""rl.score: rows and files."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections import ChainMap, UserDict, defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from conftest import items

import rewardloop as rl


def test_the_call_of_the_design() -> None:
    rows = [{"pred": "#### 1", "gold": "1"}, {"pred": "#### 2", "gold": "1"}, {"pred": "#### 2", "gold": None}]
    report = rl.score(rows, scorer="gsm8k", fields={"response": "pred", "ground_truth": "gold"}, scorer_args={},
                      on_error="null", timeout=10.0)
    assert [r.score for r in report.results] == [1.0, 0.0, None] and isinstance(report.results, list)
    assert report.valid.tolist() == [True, True, False] and np.isnan(report.scores[2])
    assert report.mean == 0.5 and report.status_counts == {"scored": 2, "unscorable": 1}
    assert len(report) == 3 and "2 scored" in repr(report)


def test_other_columns_may_hold_anything() -> None:
    rows = [{**row, "image": object(), "weight": float("nan")} for row in items(2)]
    assert rl.score(rows, scorer="gsm8k").scores.tolist() == [1.0, 1.0]


def test_dotted_fields_and_presets() -> None:
    rows: list[dict[str, Any]] = [{"a": {"b": "#### 3"}, "ground_truth": "3"}]
    assert rl.score(rows, scorer="gsm8k", fields={"response": "a.b"}).mean == 1.0
    verl = [{"output": "#### 3", "gts": "3", "input": "?", "score": 0.0}]
    assert rl.score(verl, scorer="gsm8k", preset="verl").mean == 1.0


def test_scorer_args_reach_the_scorer() -> None:
    row = {"response": "It is 42.", "ground_truth": "42"}
    assert rl.score([row], scorer="gsm8k", scorer_args={"method": "strict"}).mean == 0.0
    assert rl.score([row], scorer="gsm8k", scorer_args={"method": "flexible"}).mean == 1.0
    with pytest.raises(ValueError, match="did you mean 'flexible'"):
        rl.score([row], scorer="gsm8k", scorer_args={"method": "flexibel"})


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_files(tmp_path: Path, name: str) -> None:
    text = "\ufeff" + "".join(json.dumps(row) + "\r\n\n" for row in items(5, wrong=(2,)))
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    for given in (path, str(path)):
        report = rl.score(given, scorer="gsm8k")
        assert report.scores.tolist() == [1.0, 1.0, 0.0, 1.0, 1.0]
        assert [r.item_id for r in report.results] == [f"q{i}" for i in range(5)]


def test_rows_of_a_file_without_id_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('\n{"response": "#### 1", "ground_truth": 1}\n\n{"response": "", "ground_truth": 1}')
    assert [r.item_id for r in rl.score(path, scorer="gsm8k").results] == ["line:2", "line:4"]


def test_broken_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"response": "", "ground_truth": 1}\n{"response": ,}\n')
    with pytest.raises(ValueError, match=r"rows\.jsonl:2:14"):
        rl.score(path, scorer="gsm8k")
    with pytest.raises((KeyError, OSError, ValueError), match="no_such_file"):
        rl.score(tmp_path / "no_such_file", scorer="gsm8k")


def test_bad_rows_are_named() -> None:
    with pytest.raises(ValueError, match=r"rows\[1\]"):
        rl.score([*items(1), 3], scorer="gsm8k")  # type: ignore[list-item]
    with pytest.raises(ValueError, match="reponse"):
        rl.score(items(1), scorer="gsm8k", fields={"reponse": "x"})


def test_rows_of_other_mappings_are_only_read() -> None:
    row = defaultdict(str, response="#### 1", ground_truth="1")

    class Upper(dict[str, str]):
        def __missing__(self, key: str) -> str:
            return key.upper()

    database = sqlite3.connect(":memory:")
    database.row_factory = sqlite3.Row
    selected = database.execute("SELECT '#### 1' AS response, '1' AS ground_truth").fetchone()
    kinds = [row, Upper(row), UserDict(row), ChainMap(row), MappingProxyType(row), selected]
    assert rl.score(kinds, scorer="gsm8k").scores.tolist() == [1.0] * 6
    assert list(row) == ["response", "ground_truth"]


def test_a_dict_is_no_list_of_rows() -> None:
    with pytest.raises(rl.ArgumentError, match=r"rows must be a list of dicts .* \[row\]"):
        rl.score({"response": "#### 1", "ground_truth": "1"}, scorer="gsm8k")  # type: ignore[arg-type]


def test_none_is_no_scorer_and_no_preset() -> None:
    rows = [{"data_source": "openai/gsm8k", "response": "#### 1", "ground_truth": "1"}]
    assert rl.score(rows, scorer=None, preset=None).scores.tolist() == [1.0]


def test_a_long_double_is_no_json() -> None:
    if np.longdouble is np.float64:
        pytest.skip("no such type here")
    with pytest.raises(rl.ArgumentError, match="ground_truth: a longdouble is not JSON"):
        rl.score([{"response": "#### 1", "ground_truth": np.longdouble(1)}], scorer="gsm8k")


def test_empty_input(tmp_path: Path) -> None:
    report = rl.score([], scorer="gsm8k")
    assert len(report) == 0 and report.mean is None and "0 rows" in repr(report)
    path = tmp_path / "empty.jsonl"
    path.touch()
    assert rl.score(path, scorer="gsm8k").results == []


def test_raise_is_the_default_and_hands_over_all_results() -> None:
    rows = items(3)
    rows[2]["ground_truth"] = None
    with pytest.raises(rl.RewardError) as caught:
        rl.score(rows, scorer="gsm8k")
    assert caught.value.results.valid.tolist() == [True, True, False]


def test_more_rows_than_any_bound() -> None:
    rows = items(70_000, wrong=(69_999,))
    report = rl.score(rows, scorer="gsm8k", backlog_items=64)
    assert report.scores.sum() == 69_999 and report.results[69_999].score == 0.0


def test_same_scores_with_one_thread_and_many() -> None:
    rows = items(2000, wrong=tuple(range(0, 2000, 7)))
    one, many = (rl.score(rows, scorer="gsm8k", engine=rl.Engine(threads=n)) for n in (1, 8))
    assert np.array_equal(one.scores, many.scores)
    assert [r.digest for r in one.results] == [r.digest for r in many.results]
