"""examples/quickstart: the file is what its script writes, and the scores are what the script knows to be right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/quickstart"
CLI = Path(os.environ.get("REWARDLOOP_BIN", ROOT / "build/release/bin/rewardloop"))
sys.path.insert(0, str(FOLDER))

import make_rollouts  # noqa: E402


@pytest.fixture(scope="module")
def labels() -> dict[str, Any]:
    return {row["item_id"]: row[make_rollouts.LABEL] for row in make_rollouts.labelled_rows()}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    out = tmp_path_factory.mktemp("quickstart") / "scored.jsonl"
    done = subprocess.run(
        [CLI, "score", FOLDER / "rollouts.jsonl", "--config", FOLDER / "rewards.yaml", "--max-unscored", "3", "--output", out],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_the_file_is_what_the_script_writes() -> None:
    rows = [{k: v for k, v in row.items() if k != make_rollouts.LABEL} for row in make_rollouts.labelled_rows()]
    assert rows == [json.loads(line) for line in (FOLDER / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_file_has_every_kind_of_row() -> None:
    rows = [json.loads(line) for line in (FOLDER / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert 200 <= len(rows) <= 500
    assert len({row["data_source"] for row in rows}) >= 5
    assert any("response" in row and row["response"] is None for row in rows)
    assert any(row.get("response") == "" for row in rows)
    assert any(len(row.get("outputs", [])) > 1 for row in rows)
    assert any(row["ground_truth"] is None for row in rows)


def test_every_row_comes_back_in_input_order(scored: list[dict[str, Any]], labels: dict[str, Any]) -> None:
    assert [row["item_id"] for row in scored] == list(labels)


def test_right_answers_are_paid_and_wrong_ones_are_not(scored: list[dict[str, Any]], labels: dict[str, Any]) -> None:
    """qa_f1 pays shares, so `one_sentence` is judged apart; None leaves the verdict to the scorer's rules."""
    surprising = [
        (row["item_id"], row["score"], row["reason"])
        for row in scored
        if labels[row["item_id"]] is not None and row["data_source"] != "one_sentence"
        and row["score"] != float(labels[row["item_id"]])
    ]
    assert surprising == []


def test_summaries_that_say_the_same_earn_more(scored: list[dict[str, Any]], labels: dict[str, Any]) -> None:
    shares = {right: [row["score"] for row in scored if row["data_source"] == "one_sentence" and labels[row["item_id"]] is right]
              for right in (True, False)}
    assert min(shares[True]) > max(shares[False])
    assert all(0 <= share <= 1 for share in shares[True] + shares[False])


def test_what_cannot_be_judged_has_a_status_and_no_score(scored: list[dict[str, Any]]) -> None:
    without = {row["item_id"]: (row["status"], row["error"]["class"]) for row in scored if row["score"] is None}
    assert without == {
        "odd-no-truth/0": ("unscorable", "no_ground_truth"),
        "odd-broken-truth/0": ("unscorable", "bad_ground_truth"),
        "odd-source/0": ("unscorable", "no_scorer"),
    }


def test_some_groups_have_no_spread(scored: list[dict[str, Any]]) -> None:
    groups: dict[str, list[float]] = {}
    for row in scored:
        if row["score"] is not None:
            groups.setdefault(row["group_id"], []).append(row["score"])
    spread = Counter(len(set(scores)) > 1 for scores in groups.values() if len(scores) > 1)
    assert spread[True] >= 10 and spread[False] >= 4


@pytest.mark.skipif(not CLI.exists(), reason="the command is not built")
def test_the_python_version_runs() -> None:
    done = subprocess.run([sys.executable, FOLDER / "score.py"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 16 and all(line.startswith("gsm8k-") for line in lines)
