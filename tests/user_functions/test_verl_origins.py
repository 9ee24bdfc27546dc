"""verl's rules that evaluate model text, called as they are: recorded answers of verl 0.9.1.

Needs an interpreter with verl, mathruler and math-verify, which REWARDLOOP_VERL_PYTHON names, and the shared corpora.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import rewardloop as rl

PYTHON = os.environ.get("REWARDLOOP_VERL_PYTHON", "")
CORPORA = Path(os.environ.get("REWARDLOOP_CORPORA") or Path(__file__).parents[3] / "shared/corpora") / "verl_parity"
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="REWARDLOOP_VERL_PYTHON names no interpreter with verl"),
    pytest.mark.skipif(not CORPORA.is_dir(), reason=f"no recordings in {CORPORA}"),
]


def agrees(result: rl.RewardResult, recorded: dict[str, Any]) -> bool:
    if "exception" in recorded:
        kind = recorded["exception"].split(":")[0]
        return result.error is not None and result.error.class_ == "exception" and result.error.message.startswith(kind)
    if "result" not in recorded:  # the recording timed out
        return True
    value = recorded["result"][0] if isinstance(recorded["result"], list) else recorded["result"]
    return result.score == float(value)


@pytest.mark.parametrize("kind", ["edge", "corpora"])
@pytest.mark.parametrize("name", ["geo3k", "prime_math", "math_verify"])
def test_the_origins_verdicts_arrive_unchanged(name: str, kind: str) -> None:
    lines = (CORPORA / f"{name}.{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = [row for row in map(json.loads, lines[:: 1 if kind == "edge" else 10]) if not row.get("kwargs")]
    items = [{"item_id": str(k), "response": row["solution_str"], "ground_truth": row["ground_truth"]}
             for k, row in enumerate(recorded)]
    report = rl.score(items, scorer=f"verl/{name}", python=PYTHON, timeout=60, num_workers=2, threads_per_worker=1, on_error="null")
    wrong = [(recorded[k], result) for k, result in enumerate(report.results) if not agrees(result, recorded[k])]
    assert not wrong, wrong[:3]


def test_no_dispatch_table_chooses_them() -> None:
    items = [{"item_id": "a", "data_source": "hiyouga/geometry3k", "response": "1", "ground_truth": "1"}]
    for table in ("native", "verl"):
        report = rl.score(items, dispatch=table, unknown_rewards="warn", on_error="null")
        assert not report.results[0].scorer.startswith("verl/geo3k")


def test_the_worker_has_no_network(tmp_path: Path) -> None:
    # The interpreter's verl is replaced by a package that looks at the network interfaces.
    module = tmp_path / "verl/utils/reward_score/geo3k.py"
    module.parent.mkdir(parents=True)
    for folder in (tmp_path / "verl", tmp_path / "verl/utils", module.parent):
        (folder / "__init__.py").touch()
    module.write_text("import socket\ndef compute_score(predict_str, ground_truth, use_boxed=True, format_score=0.1):\n"
                      "    return float([name for _, name in socket.if_nameindex()] == ['lo'])\n")
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\nPYTHONPATH={tmp_path} exec {PYTHON} \"$@\"\n")
    script.chmod(0o755)
    items = [{"item_id": "a", "response": "1", "ground_truth": "1"}]
    assert list(rl.score(items, scorer="verl/geo3k", python=str(script)).scores) == [1.0]
