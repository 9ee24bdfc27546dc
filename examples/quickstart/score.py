"""The quickstart from Python: submit samples one by one, take groups as they complete."""

import json
from pathlib import Path

import rewardloop as rl

here = Path(__file__).parent
rows = [json.loads(line) for line in (here / "rollouts.jsonl").read_text(encoding="utf-8").splitlines()]
rows = [row for row in rows if row["data_source"] == "openai/gsm8k" and not row["item_id"].startswith("odd")]

with rl.AsyncRewardPipeline(scorer="gsm8k", on_error="null") as pipeline:
    for row in rows:  # a trainer submits as its sampler finishes
        pipeline.submit([row])
    for group in pipeline.collect_groups():
        scores = [result.score for result in group.results]
        spread = "" if len(set(scores)) > 1 else "   (no spread: no gradient)"
        print(f"{group.group_id}: {scores}{spread}")
