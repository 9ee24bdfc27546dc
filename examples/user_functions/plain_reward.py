"""rewardloop's own form: one item, a dict. Sync or async; a number, (number, dict), or a dict with "score"."""

import re


def score(item, tag="answer"):
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", item["response"], re.DOTALL)
    if not found:
        return {"score": 0.0, "reason": "no_answer"}
    answer = found[-1].strip()
    return {"score": float(answer == item["ground_truth"]), "extracted": answer, "reason": "compared"}
