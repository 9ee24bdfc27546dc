"""A function as verl takes it: custom_reward_function.path=verl_reward.py, custom_reward_function.name=compute_score."""

import re


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    if data_source != "arithmetic":
        raise NotImplementedError(f"no rule for {data_source}")
    answers = re.findall(r"<answer>(.*?)</answer>", solution_str, re.DOTALL)
    correct = bool(answers) and answers[-1].strip() == ground_truth
    return {"score": 1.0 if correct else -1.0, "acc": correct, "difficulty": extra_info["difficulty"]}
