"""verl's RewardLoopWorker with a custom reward function; run by user_functions.py with the Python of a venv that has verl.

    V/bin/python bench/user_functions_verl.py rows.jsonl functions.py name

Set-up of the environment: bench/peers/verl_reward_loop.py. Prints one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))

import ray
from verl.experimental.reward_loop import RewardLoopWorker
from verl_reward_loop import make_config, make_data, make_tokenizer


def main() -> None:
    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizer([row["response"] for row in rows], folder)
        prompt = tokenizer.encode("Write some words and end with #### and a number.")
        data = [make_data(prompt, tokenizer.encode(row["response"]), row["ground_truth"], i) for i, row in enumerate(rows)]
        config = make_config(folder)
        config.reward.custom_reward_function.path = sys.argv[2]
        config.reward.custom_reward_function.name = sys.argv[3]
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        actor = RewardLoopWorker if hasattr(RewardLoopWorker, "remote") else ray.remote(RewardLoopWorker)
        workers = [actor.remote(config, None) for _ in range(2)]
        ray.get([worker.compute_score.remote(data[0]) for worker in workers])

        async def run() -> list[float]:
            calls = [workers[i % 2].compute_score.remote(one) for i, one in enumerate(data)]
            return [float(reply["reward_score"]) for reply in await asyncio.gather(*calls)]

        seconds, scores = [], []
        for _ in range(3):
            begin = time.perf_counter()
            scores = asyncio.run(run())
            seconds.append(time.perf_counter() - begin)
        print(json.dumps({"seconds": min(seconds), "scores": scores}))
        ray.shutdown()


if __name__ == "__main__":
    main()
