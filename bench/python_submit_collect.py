"""From Python: submit -> collect of a native rule, beside a reference pipeline and verl's RewardLoopWorker.

    .venv/bin/python bench/python_submit_collect.py [--verl-python V/bin/python] [--corpora DIR]

All three score the same gsm8k rows in one run; a difference in a score ends the run. Seconds are the best of some
repetitions. "Beside scoring" is the batch's time less what the same scorer takes for the same items by itself on as
many threads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "peers"))

from reference_pipeline import ReferencePipeline, RewardItem

import rewardloop as rl

SCORER = "verl/gsm8k"  # the rule that all three have, bit for bit


def load_rows(corpora: Path) -> list[dict[str, Any]]:
    rows = []
    with open(corpora / "gsm8k" / "example_model_solutions_triples.jsonl", encoding="utf-8") as file:
        for i, line in enumerate(file):
            row = json.loads(line)
            head, separator, tail = row["pred"].rpartition("\nA:")  # these texts end in "A: x"; the rule wants "#### x"
            text = f"{head}\n#### {tail.strip()}" if separator else row["pred"]
            rows.append({"item_id": str(i), "data_source": "openai/gsm8k", "response": text, "ground_truth": str(row["gold"])})
    return rows


def best(repeat: int, run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    seconds = []
    for _ in range(repeat):
        begin = clock()
        run()
        seconds.append(clock() - begin)
    return min(seconds)


def ours(rows: list[dict[str, Any]], expected: list[float]) -> dict[str, float]:
    with rl.AsyncRewardPipeline(scorer=SCORER, backlog_items=len(rows), timeout=None) as pipeline:

        def batch() -> None:
            scores = pipeline.collect(pipeline.submit(rows)).scores
            assert scores.tolist() == expected

        def per_item() -> None:
            handles = [pipeline.submit([row]) for row in rows]
            assert [pipeline.collect(handle)[0].score for handle in handles] == expected

        def one_at_a_time() -> None:
            for row in rows[:500]:
                pipeline.collect(pipeline.submit([row]))

        scorer = rl.Scorer(SCORER)
        threads = pipeline.engine.threads
        alone = best(10, lambda: scorer.score_batch(rows, threads=threads))
        return {
            "batch": best(40, batch) / len(rows),
            "per item": best(20, per_item) / len(rows),
            "per item, CPU": best(20, per_item, time.process_time) / len(rows),
            "one at a time": best(3, one_at_a_time) / min(500, len(rows)),
            "scorer alone": alone / len(rows),
            "scoring": scoring_seconds(rows) / threads,
        }


def scoring_seconds(rows: list[dict[str, Any]]) -> float:
    """CPU seconds an item that the rule itself takes, by the engine's own clock."""
    runs = []
    for _ in range(20):
        results = rl.Scorer(SCORER).score_batch(rows, threads=1)
        runs.append(sum(r.timing.finished - r.timing.started for r in results) / len(rows) / 1e9)
    return min(runs)


def reference(rows: list[dict[str, Any]], expected: list[float]) -> dict[str, float]:
    items = [RewardItem(row["item_id"], row["response"], row["ground_truth"]) for row in rows]
    pipeline = ReferencePipeline(num_workers=2)

    def batch() -> None:
        assert [r.score for r in pipeline.collect(pipeline.submit(items))] == expected

    def per_item() -> None:
        handles = [pipeline.submit([item]) for item in items]
        assert [pipeline.collect(handle)[0].score for handle in handles] == expected

    result = {
        "batch": best(10, batch) / len(rows),
        "per item": best(3, per_item) / len(rows),
        "per item, CPU": best(3, per_item, time.process_time) / len(rows),
    }
    pipeline.close()
    return result


def verl(python: str, rows: list[dict[str, Any]], expected: list[float]) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
        file.flush()
        peer = Path(__file__).parent / "peers" / "verl_reward_loop.py"
        done = subprocess.run([python, str(peer), file.name], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ""})
    if done.returncode != 0:
        raise SystemExit(f"the verl peer failed:\n{done.stderr[-3000:]}")
    reply = json.loads(done.stdout.strip().split("\n")[-1])
    assert reply["scores"] == expected, "verl scores other rows"
    return float(reply["seconds"]) / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = os.environ.get("REWARDLOOP_CORPORA") or Path(__file__).resolve().parents[2] / "shared" / "corpora"
    parser.add_argument("--corpora", type=Path, default=default)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--verl-rows", type=int, default=1024)
    parser.add_argument("--verl-python", help="Python of a venv with verl (bench/peers/verl_reward_loop.py)")
    args = parser.parse_args()

    rows = load_rows(args.corpora)[: args.rows]
    expected = [float(r.score or 0) for r in rl.score(rows, scorer=SCORER).results]
    mine, other = ours(rows, expected), reference(rows, expected)
    print(f"{len(rows)} gsm8k rows, {rl.default_engine().threads} threads, mean score {sum(expected) / len(expected):.3f}")
    for name, seconds in mine.items():
        print(f"rewardloop  {name:14} {seconds * 1e6:10.2f} us/item")
    for name, seconds in other.items():
        print(f"reference   {name:14} {seconds * 1e6:10.2f} us/item")
    print(f"batch beside scoring: {(mine['batch'] - mine['scoring']) * 1e6:.2f} us/item")
    print(f"ratio per item, reference / rewardloop: {other['per item'] / mine['per item']:.1f}")
    print(f"ratio per item of CPU time, which a busy machine leaves alone: {other['per item, CPU'] / mine['per item, CPU']:.1f}")
    print(f"ratio batch,    reference / rewardloop: {other['batch'] / mine['batch']:.1f}")
    if args.verl_python:
        count = min(args.verl_rows, len(rows))
        seconds = verl(args.verl_python, rows[:count], expected[:count])
        print(f"verl        streaming      {seconds * 1e6:10.2f} us/item ({count} rows)")
        print(f"ratio per item, verl / rewardloop: {seconds / mine['per item']:.0f}")
        print(f"ratio verl streaming / rewardloop batch: {seconds / mine['batch']:.0f}")


if __name__ == "__main__":
    main()
