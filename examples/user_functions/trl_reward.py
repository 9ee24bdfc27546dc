"""Functions as TRL's GRPOTrainer takes them: reward_funcs=[correctness, has_thoughts]."""

import re


def correctness(prompts, completions, ground_truth, **kwargs):
    texts = [completion[0]["content"] for completion in completions]
    found = [re.search(r"<answer>(.*?)</answer>", text, re.DOTALL) for text in texts]
    return [float(match is not None and match.group(1) == truth) for match, truth in zip(found, ground_truth)]


async def has_thoughts(completions, difficulty, **kwargs):
    rewards = []
    for completion, level in zip(completions, difficulty):
        text = completion[0]["content"]
        rewards.append(None if not text else 0.5 * level if "<think>" in text else 0.0)  # None: says nothing about this one
    return rewards
