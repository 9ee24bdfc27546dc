"""Writes rollouts.jsonl: what a sampler hands to a reward loop. Standard library only, same bytes on every run.

    python3 examples/quickstart/make_rollouts.py
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hand_written import CHOICE, MATH, QA, SUMMARIES, Problem
from word_problems import PROBLEMS, Values, WordProblem

SEED = 20260
Row = dict[str, Any]
# Written beside a row while it is made, and not into the file: is the answer right? None: a matter of the scorer's rules.
LABEL = "_right"

REFUSAL = "I'm sorry, but I can't work this out without more information."
CHATTER = "Okay, let me start again and check every step carefully. "


def item(source: str, group: str, k: int, size: int, prompt: str, truth: object, response: str | None,
         right: bool | None, **more: object) -> Row:
    row: Row = {
        LABEL: right,
        "item_id": f"{group}/{k}",
        "data_source": source,
        "group_id": group,
        "group_size": size,
        "prompt": [{"role": "user", "content": prompt}],
        "response": response,
        "ground_truth": truth,
    }
    if response is not None:
        row["num_tokens"] = max(1, len(response.encode()) // 4) if response else 0
    row.update(more)
    return row


# --- gsm8k: word problems with full reasoning

def reasoning(rng: random.Random, sentences: list[str], notes: list[str]) -> str:
    style = rng.randrange(4)
    if style == 0:
        return "\n".join(f"{s[:-1]} <<{n}>>." for s, n in zip(sentences, notes))
    if style == 1:
        return "\n".join(f"Step {i}: {s}" for i, s in enumerate(sentences, 1))
    if style == 2:
        return "Let's think step by step. " + " ".join(sentences)
    return "<think>\n" + " ".join(sentences) + "\nThat looks right.\n</think>"


def word_problem_response(rng: random.Random, kind: str, problem: WordProblem, numbers: Values) -> str | None:
    if kind == "wrong":
        at = rng.randrange(len(problem.steps))
        sentences, notes, answer = problem.solve(numbers, at, rng.choice((-10, -2, -1, 1, 2, 10)))
        if answer == problem.solve(numbers)[2]:  # a slip that integer division swallowed
            answer += 3
    else:
        sentences, notes, answer = problem.solve(numbers)
    text = reasoning(rng, sentences, notes)
    last = f"{answer:,}" if rng.random() < 0.3 else str(answer)
    endings = {
        "right": f"\n#### {last}",
        "wrong": f"\n#### {last}",
        "dollar": f"\n#### ${last}",
        "chinese": f"\n所以答案是 {answer}。\n#### {answer}",
        "unmarked": f"\n**The answer is {answer}.**",
        "boxed": f"\nThe final answer is $\\boxed{{{answer}}}$.",
    }
    if kind in endings:
        return text + endings[kind]
    if kind == "cut":  # stopped by the length limit
        return text[: len(text) * 2 // 3]
    return {"empty": "", "null": None, "refused": REFUSAL, "loop": CHATTER * 120}[kind]


MOODS = {  # what a group's answers look like, by how hard the problem is for the policy
    "easy": {"right": 9, "chinese": 1},
    "usual": {"right": 10, "wrong": 6, "dollar": 1, "chinese": 1, "unmarked": 2, "cut": 2, "boxed": 1},
    "hard": {"right": 2, "wrong": 9, "cut": 3, "empty": 1, "refused": 1, "loop": 1, "null": 1},
    "hopeless": {"wrong": 8, "cut": 1, "refused": 1},
}


def gsm8k(rng: random.Random) -> Iterator[Row]:
    moods = ["usual", "easy", "usual", "hard", "usual", "hopeless", "usual", "usual"] * 2
    for g, mood in enumerate(moods):
        problem = PROBLEMS[g % len(PROBLEMS)]
        numbers = problem.draw(rng)
        answer = problem.solve(numbers)[2]
        kinds = rng.choices(list(MOODS[mood]), list(MOODS[mood].values()), k=8)
        if mood == "hard":
            kinds[-1] = "empty"  # whatever the dice say, the file has one of each
        for k, kind in enumerate(kinds):
            response = word_problem_response(rng, kind, problem, numbers)
            stop = {"cut": "length", "loop": "length"}.get(kind, "stop")
            right = {"right": True, "dollar": True, "chinese": True, "unmarked": None, "boxed": None}.get(kind, False)
            yield item("openai/gsm8k", f"gsm8k-{g:02}", k, 8, problem.question.format(**numbers), str(answer), response, right,
                       extra_info={"split": "train", "index": g, "stop_reason": stop})


# --- hand-written problems

def draw(rng: random.Random, problem: Problem, mood: str) -> tuple[str, bool]:
    share = {"easy": 1.0, "usual": 0.5, "hard": 0.2, "hopeless": 0.0}[mood]
    right = rng.random() < share
    return rng.choice(problem.right if right else problem.wrong), right


def math(rng: random.Random) -> Iterator[Row]:
    moods = ["usual", "usual", "hard", "usual", "usual", "easy", "usual", "usual", "hard", "hopeless"]
    for g, (problem, mood) in enumerate(zip(MATH, moods)):
        for k in range(8):
            response, right = draw(rng, problem, mood)
            if mood != "easy" and rng.random() < 0.06:
                response, right = response[: len(response) // 2], False
            yield item("HuggingFaceH4/MATH-500", f"math-{g:02}", k, 8, problem.prompt, problem.gold, response, right)


def choice(rng: random.Random) -> Iterator[Row]:
    for g, (problem, mood) in enumerate(zip(CHOICE, ["usual", "hard", "usual", "easy", "usual", "usual"])):
        for k in range(4):
            yield item("science_choice", f"choice-{g:02}", k, 4, problem.prompt, problem.gold, *draw(rng, problem, mood))


def qa(rng: random.Random) -> Iterator[Row]:
    """An agent that may search first: two or three outputs in one trajectory, the last one holds the answer."""
    for g, (problem, mood) in enumerate(zip(QA, ["usual", "usual", "easy", "usual", "usual", "usual", "hard", "usual"])):
        for k in range(4):
            answer, right = draw(rng, problem, mood)
            final = f"<think>The passage names it.</think>\n<answer>{answer}</answer>"
            row = item("searchR1_nq", f"qa-{g:02}", k, 4, problem.prompt, {"target": problem.gold}, final, right)
            if rng.random() < 0.5:
                del row["response"], row["num_tokens"]
                searches = [f"<think>I should look this up.</think>\n<search>{problem.prompt}</search>"] * rng.randint(1, 2)
                row["outputs"] = [{"text": t, "num_tokens": len(t.encode()) // 4, "stop_reason": "stop"} for t in [*searches, final]]
            yield row


def summaries(rng: random.Random) -> Iterator[Row]:
    for g, (problem, mood) in enumerate(zip(SUMMARIES, ["usual", "usual", "easy", "hopeless"])):
        for k in range(4):
            yield item("one_sentence", f"summary-{g:02}", k, 4, problem.prompt, problem.gold, *draw(rng, problem, mood))


def formats(rng: random.Random) -> Iterator[Row]:
    """Only the shape counts: reasoning in <think>, the answer in <answer>, nothing else."""
    for g in range(4):
        a, b = rng.randint(12, 99), rng.randint(12, 99)
        shapes = [
            f"<think>{a} + {b} = {a + b}</think>\n<answer>{a + b}</answer>",
            f"<think>\n{a} plus {b}: carry the ten.\n</think>\n<answer>\n{a + b}\n</answer>",
            f"<answer>{a + b}</answer>",
            f"<think>{a} + {b} = {a + b}\n<answer>{a + b}</answer>",
            f"{a} + {b} = {a + b}",
        ]
        for k in range(4):
            shape = rng.choice(shapes)
            yield item("think_format", f"format-{g:02}", k, 4, f"What is {a} + {b}?", str(a + b), shape, shape in shapes[:2])


def odd_ones() -> Iterator[Row]:
    """Rows as they turn up in real dumps: what cannot be judged gets a status and no score."""
    text = "The sum of the digits is 18. \\boxed{18}"
    yield item("HuggingFaceH4/MATH-500", "odd-no-truth", 0, 1, "What is the sum of the digits of 99?", None, text, None)
    yield item("HuggingFaceH4/MATH-500", "odd-broken-truth", 0, 1, "What is half of one third?", "\\boxed{}", "\\boxed{1/6}", None)
    yield item("haiku_judge", "odd-source", 0, 1, "Write a haiku about autumn.", "", "Leaves drift to the ground,\nthe lake keeps the sky's colour,\none crow calls, then none.", None)
    yield item("openai/gsm8k", "odd-unicode", 0, 1, "What is 1000 + 234? 🎉", "1234", "Здесь просто: 1000 + 234 = 1234 🎉\n#### 1,234", True)


def labelled_rows() -> list[Row]:
    rng = random.Random(SEED)
    rows: list[Row] = []
    for source in (gsm8k, math, choice, qa, summaries, formats):
        rows += source(rng)
    rng.shuffle(rows)  # a sampler finishes in its own order
    return rows + list(odd_ones())


def main() -> None:
    rows = [{k: v for k, v in row.items() if k != LABEL} for row in labelled_rows()]
    out = Path(__file__).with_name("rollouts.jsonl")
    out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    print(f"{out.name}: {len(rows)} rows, {len({row['group_id'] for row in rows})} groups")


if __name__ == "__main__":
    main()
