#!/usr/bin/env python3
"""Side by side with Math-Verify: pairs per second, p50/p99/slowest, and accuracy, in one run on one machine.

Needs the rewardloop package and, from PyPI, math-verify with its antlr runtime (pip install "math-verify[antlr4_13_2]").
Reads the corpora at $REWARDLOOP_CORPORA, else ../shared/corpora; exits 77 with a message where they are absent.

Math-Verify is called the best way that was found: answers wrapped in $...$ where no environment stands, its parsed golds
kept, no time limits, one process. Rewardloop gets the same texts. No pair is repeated within a timed pass, and no
verdict is kept between passes by either.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

Row = tuple[str, str, bool | None]  # gold, prediction, expected


def corpora() -> Path:
    root = Path(os.environ.get("REWARDLOOP_CORPORA", Path(__file__).resolve().parents[2] / "shared" / "corpora"))
    if not root.is_dir():
        print(f"bench: no corpora at {root}; set REWARDLOOP_CORPORA", file=sys.stderr)
        raise SystemExit(77)
    return root


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def load(root: Path) -> dict[str, list[Row]]:
    sets: dict[str, list[Row]] = {}
    sets["qwen25 completions"] = [
        (r["gold"], r["pred"], r["expected"]) for r in rows_of(root / "qwen25_math_outputs/math_cot_100_triples.jsonl")
    ]
    sets["gsm8k completions"] = [
        (r["gold"], r["pred"], r["expected"]) for r in rows_of(root / "gsm8k/example_model_solutions_triples.jsonl")
    ]
    golds: list[Row] = []
    for path in sorted((root / "math_golds").glob("*.jsonl")):
        for r in rows_of(path):
            answer = str(r["answer"])
            if answer.strip():
                golds.append((answer, "\\boxed{" + answer.strip("$ ") + "}", True))
    sets["golds against themselves"] = golds
    sets["hardverify rows"] = [
        (r["gold"], r["pred"], r["expected"]) for r in rows_of(root / "hardverify_math/hardverify_math_triples.jsonl")
    ]
    return sets


class Rewardloop:
    name = "rewardloop"

    def __init__(self) -> None:
        import rewardloop as rl

        self.rl = rl

    def judge(self, golds: list[str], predictions: list[str]) -> list[bool]:
        results = self.rl.verify_batch(golds, predictions)
        return [r.status == "scored" and r.score == 1.0 for r in results]

    def run(self, rows: list[Row]) -> tuple[list[bool], float]:
        golds, predictions = [r[0] for r in rows], [r[1] for r in rows]
        begin = time.process_time()
        results = self.rl.verify_batch(golds, predictions)
        spent = time.process_time() - begin
        return [r.status == "scored" and r.score == 1.0 for r in results], spent

    def one(self, gold: str, prediction: str) -> float:
        begin = time.perf_counter()
        self.rl.verify(gold, prediction)
        return time.perf_counter() - begin


class MathVerify:
    name = "math-verify"

    def __init__(self) -> None:
        import logging

        logging.disable(logging.CRITICAL)
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

        self._parse, self._verify = parse, verify
        self._config = [LatexExtractionConfig(boxed_match_priority=0), ExprExtractionConfig()]
        self._golds: dict[str, list] = {}

    @staticmethod
    def wrapped(text: str) -> str:
        return text if any(mark in text for mark in ("$", "\\(", "\\[", "\\boxed")) else f"${text}$"

    def _gold(self, gold: str) -> list:
        if gold not in self._golds:
            self._golds[gold] = self._parse(self.wrapped(gold), self._config, parsing_timeout=None)
        return self._golds[gold]

    def _judge(self, gold: str, prediction: str) -> bool:
        text = self.wrapped(prediction) if len(prediction) < 300 else prediction
        parsed = self._parse(text, self._config, parsing_timeout=None)
        return bool(self._verify(self._gold(gold), parsed, timeout_seconds=None))

    def run(self, rows: list[Row]) -> tuple[list[bool], float]:
        for gold, _, _ in rows:
            self._gold(gold)
        begin = time.process_time()
        verdicts = [self._judge(gold, prediction) for gold, prediction, _ in rows]
        return verdicts, time.process_time() - begin

    def one(self, gold: str, prediction: str) -> float:
        begin = time.perf_counter()
        self._judge(gold, prediction)
        return time.perf_counter() - begin


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=250, help="rows of each set for Math-Verify (it is slow)")
    parser.add_argument("--repeat", type=int, default=5, help="passes of rewardloop; the best counts")
    parser.add_argument("--without-math-verify", action="store_true")
    args = parser.parse_args()
    sets = load(corpora())
    ours = Rewardloop()
    theirs = None
    if not args.without_math_verify:
        try:
            theirs = MathVerify()
        except ImportError as error:
            print(f"bench: math-verify is not installed ({error}); its columns are left out", file=sys.stderr)
    print(f"{'set':<26}{'rows':>6}  {'rewardloop /s':>14}{'right':>7}{'paid wrongly':>13}{'p99 us':>9}{'max us':>9}"
          f"  {'math-verify /s':>15}{'right':>7}{'paid wrongly':>13}{'ratio':>9}")
    for name, rows in sets.items():
        ours.run(rows[:50])
        passes = [ours.run(rows) for _ in range(args.repeat)]
        verdicts, _ = passes[0]
        rate = len(rows) / max(1e-9, min(spent for _, spent in passes))
        times = [min(ours.one(g, p) for _ in range(3)) * 1e6 for g, p, _ in rows[: args.rows]]
        line = f"{name:<26}{len(rows):>6}  {rate:>14,.0f}{accuracy(rows, verdicts):>21}{quantile(times, 0.99):>8.1f}{max(times):>9.1f}"
        if theirs is not None:
            step = max(1, len(rows) // args.rows)
            sample = rows[::step][: args.rows]
            theirs.run(sample[:5])
            their_verdicts, spent = theirs.run(sample)
            their_rate = len(sample) / spent
            line += f"  {their_rate:>15,.0f}{accuracy(sample, their_verdicts):>20}{rate / their_rate:>9,.0f}"
        print(line, flush=True)
    return 0


def accuracy(rows: list[Row], verdicts: list[bool]) -> str:
    labelled = [(paid, expected) for paid, (_, _, expected) in zip(verdicts, rows) if expected is not None]
    right = sum(paid == bool(expected) for paid, expected in labelled)
    wrong = sum(paid and not expected for paid, expected in labelled)
    return f"{100 * right / max(1, len(labelled)):.1f} % {wrong:>10}"


if __name__ == "__main__":
    raise SystemExit(main())
