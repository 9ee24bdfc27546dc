"""verl's own RewardLoopWorker over Ray, one compute_score.remote per trajectory, all in flight.

Run by python_submit_collect.py with the Python of a venv that has verl; prints one JSON line. Set-up:

    python3 -m venv V && V/bin/pip install torch==2.13.0 && \\
      V/bin/pip install verl==0.9.1 ray TransferQueue==0.1.11 cachetools uvicorn fastapi
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import ray
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from verl import DataProto
from verl.experimental.reward_loop import RewardLoopWorker


def make_tokenizer(texts: list[str], folder: str) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer that gives every text back exactly."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=8192, special_tokens=["<pad>", "<eos>"],
                                                       initial_alphabet=alphabet, show_progress=False))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token="<pad>", eos_token="<eos>")
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    tokenizer.save_pretrained(folder)
    return tokenizer


def make_config(folder: str) -> Any:
    return OmegaConf.create({
        "actor_rollout_ref": {"model": {"path": folder, "tokenizer_path": None}},
        "trainer": {"experiment_name": "bench"},
        "reward": {
            "num_workers": 1,
            "custom_reward_function": {"path": None, "name": "compute_score"},
            "reward_manager": {"source": "register", "name": "naive",
                               "module": {"path": None, "name": "custom_reward_manager"}},
            "reward_model": {"enable": False, "enable_resource_pool": False, "model_path": None},
            "sandbox_fusion": {"url": None, "max_concurrent": 64, "memory_limit_mb": 1024},
        },
    })


def make_data(prompt: list[int], response: list[int], truth: str, index: int) -> DataProto:
    """One trajectory with the tensors and columns that an agent loop hands over."""
    prompts, responses = torch.tensor([prompt]), torch.tensor([response])
    input_ids = torch.cat([prompts, responses], 1)
    mask = torch.ones_like(input_ids)
    tensors = {"prompts": prompts, "responses": responses, "input_ids": input_ids, "attention_mask": mask,
               "position_ids": torch.cumsum(mask, 1) - 1}
    columns = {"data_source": "openai/gsm8k", "reward_model": {"style": "rule", "ground_truth": truth},
               "extra_info": {"index": index}, "uid": f"uid-{index // 8}", "__num_turns__": 2, "tool_extra_fields": {}}
    wrapped = {}
    for name, value in columns.items():
        wrapped[name] = np.empty(1, dtype=object)
        wrapped[name][0] = value
    return DataProto(batch=TensorDict(tensors, batch_size=1), non_tensor_batch=wrapped)


def main() -> None:
    rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = make_tokenizer([row["response"] for row in rows], folder)
        prompt = tokenizer.encode("Solve the problem and give the answer after ####.")
        data = [make_data(prompt, tokenizer.encode(row["response"]), row["ground_truth"], i)
                for i, row in enumerate(rows)]
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        # Some versions export the actor class, some the plain one.
        actor = RewardLoopWorker if hasattr(RewardLoopWorker, "remote") else ray.remote(RewardLoopWorker)
        worker = actor.remote(make_config(folder), None)
        ray.get(worker.compute_score.remote(data[0]))

        async def run() -> list[float]:
            replies = await asyncio.gather(*[worker.compute_score.remote(one) for one in data])
            return [float(reply["reward_score"]) for reply in replies]

        seconds, scores = [], []
        for _ in range(3):
            begin = time.perf_counter()
            scores = asyncio.run(run())
            seconds.append(time.perf_counter() - begin)
        print(json.dumps({"seconds": min(seconds), "scores": scores}))
        ray.shutdown()


if __name__ == "__main__":
    main()
