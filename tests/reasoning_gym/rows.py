"""Rows to score, made from the task families of reasoning-gym.

A right row has the family's own answer, a wrong row the answer of another item of the same family. Both labels are confirmed by
the family's verifier, so that an answer which happens to solve another item too is never called wrong.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import reasoning_gym
from reasoning_gym.factory import DATASETS

# Families whose answer is an expression that the math scorer must read.
EXPRESSIONS = {
    "complex_arithmetic",
    "fraction_simplification",
    "intermediate_integration",
    "polynomial_equations",
    "polynomial_multiplication",
    "simple_integration",
}
# composite needs a list of others; the others take seconds to make one item.
LEFT_OUT = {"composite", "knight_swap", "puzzle24"}
# Families that take 0.1 s and more, or 0.01 s and more, for one item, and how many pairs they make at most. A fixed list, not a
# clock, so that one seed makes the same rows everywhere.
MOST_PAIRS = {
    40: {"futoshiki", "intermediate_integration", "sokoban", "zebra_puzzles"},
    400: {"advanced_geometry", "arc_agi", "codeio", "countdown", "figlet_font", "game_of_life", "group_anagrams",
          "polynomial_equations", "polynomial_multiplication", "quantum_lock", "rearc", "simple_integration", "sudoku",
          "word_ladder"},
}  # fmt: skip
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?|[-+]?\d+/\d+", re.ASCII)
# A family that gives few answers again and again is asked as a multiple choice.
MOST_OPTIONS = 8
CHUNK = 32

TEMPLATES = {
    "gsm8k": ["Step 1 gives 3 and step 2 gives 12.\n#### {}", "The answer is {}.", "So it is \\boxed{{{}}}.",
              "<think>9 or 10?</think>\n<answer>{}</answer>"],
    "math": ["First 3, then 12. So it is \\boxed{{{}}}.", "<think>9 or 10?</think>\n<answer>{}</answer>",
             "The final answer is ${}$"],
    "qa_em": ["<think>Could be anything.</think>\n<answer>{}</answer>", "<answer>\n{}\n</answer>", "{}"],
    "choice": ["The answer is ({}).", "A was tempting.\n\\boxed{{{}}}", "Answer: {}", "<answer>{}</answer>"],
}  # fmt: skip


def _stated(answer: Any) -> bool:
    return answer is not None and str(answer).strip() != ""


class Family:
    """One family of tasks: makes pairs of a right and a wrong row."""

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self.pairs = 0
        self.most_pairs = min((most for most, names in MOST_PAIRS.items() if name in names), default=None)
        self._seed = seed
        self._random = random.Random(f"{name}/{seed}")

    def chunk(self, size: int = CHUNK) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        dataset = reasoning_gym.create_dataset(self.name, size=size, seed=self._seed)
        self._seed += 1
        entries = [entry for entry in (dataset[i] for i in range(size)) if _stated(entry["answer"])]
        answers = [str(entry["answer"]) for entry in entries]
        pairs = []
        for index, entry in enumerate(entries):
            if dataset.score_answer(entry["answer"], entry) != 1.0:
                continue
            wrong = self._wrong_answer(dataset, entry, answers)
            if wrong is not None:
                pairs.append(self._rows(answers, answers[index], wrong))
        return pairs

    def _wrong_answer(self, dataset: Any, entry: dict[str, Any], answers: list[str]) -> str | None:
        for other in self._random.sample(answers, min(8, len(answers))):
            if other != str(entry["answer"]) and dataset.score_answer(other, entry) < 1.0:
                return other
        return None

    def _rows(self, answers: list[str], right: str, wrong: str) -> tuple[dict[str, Any], dict[str, Any]]:
        scorer = self._scorer(answers, right, wrong)
        extra_info = None
        said = {True: right, False: wrong}
        if scorer == "choice":
            options = sorted(set(answers))
            extra_info = {"choices": options}
            said = {label: "ABCDEFGH"[options.index(text)] for label, text in said.items()}
        template = TEMPLATES[scorer][self.pairs % len(TEMPLATES[scorer])]
        rows = []
        for label in (True, False):
            rows.append(
                {
                    "item_id": f"{self.name}/{self.pairs}/{'right' if label else 'wrong'}",
                    "data_source": f"reasoning_gym/{self.name}",
                    "response": template.format(said[label]),
                    "ground_truth": right,
                    "extra_info": extra_info,
                    "scorer": scorer,
                    "right": label,
                }
            )
        self.pairs += 1
        return rows[0], rows[1]

    def _scorer(self, answers: list[str], right: str, wrong: str) -> str:
        if self.name in EXPRESSIONS:
            return "math"
        if NUMBER.fullmatch(right) and NUMBER.fullmatch(wrong):
            return ("gsm8k", "math", "qa_em")[self.pairs // 4 % 3]
        if 2 * len(set(answers)) <= min(len(answers), 2 * MOST_OPTIONS) and not any(NUMBER.fullmatch(answer) for answer in answers):
            return ("choice", "qa_em")[self.pairs // 4 % 2]
        return "qa_em"


def pairs(count: int, seed: int, only: list[str] | None = None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields `count` pairs, a chunk of each family in turn."""
    families = [Family(name, seed) for name in sorted(DATASETS) if name not in LEFT_OUT and (not only or name in only)]
    made = 0
    share = min(CHUNK, max(1, -(-count // max(1, len(families)))))  # so that few rows still see every family
    while families:
        for family in list(families):
            chunk = family.chunk(max(4, share))[:share]
            # No chunk: the family has no answer of its own, or none that is wrong elsewhere.
            if not chunk or (family.most_pairs and family.pairs >= family.most_pairs):
                families.remove(family)
            for pair in chunk:
                yield pair
                made += 1
                if made == count:
                    return
