#!/usr/bin/env python3
"""Side by side with Math-Verify and verl's graders: pairs per second, p50, p99, slowest, and accuracy, in one run.

Needs the rewardloop package and, from PyPI, math-verify with its antlr runtime (pip install "math-verify[antlr4_13_2]").
VERL_PYTHON or --verl-python names the Python of an environment with verl, for the columns prime_math and math_reward. What is
missing is said, and its columns are left out. Reads the corpora at $REWARDLOOP_CORPORA, else ../shared/corpora; exits 77 with a
message where they are absent.

Math-Verify is called the best way that was found ("wrapped"): answers put in $...$ where no environment stands, its parsed golds
kept, no time limits, one process; "raw" passes the texts as they are. Rewardloop gets the same texts. No pair is repeated within a
timed pass, and no verdict is kept between passes by either. Times are CPU times.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

Row = tuple[str, str, bool | None]  # gold, prediction, expected

REPOSITORY = Path(__file__).resolve().parents[1]


def corpora() -> Path:
    root = Path(os.environ.get("REWARDLOOP_CORPORA", REPOSITORY.parent / "shared" / "corpora"))
    if not root.is_dir():
        print(f"bench: no corpora at {root}; set REWARDLOOP_CORPORA", file=sys.stderr)
        raise SystemExit(77)
    return root


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def plain_value(text: str) -> Fraction | None:
    """The value of an integer, a decimal or a fraction, by Python alone."""
    text = text.strip("$ ")
    if match := re.fullmatch(r"(-?)\\frac\{(-?\d+)\}\{(\d+)\}", text):
        sign, top, bottom = match.groups()
        return None if int(bottom) == 0 else (-1 if sign else 1) * Fraction(int(top), int(bottom))
    try:
        return Fraction(text) if re.fullmatch(r"-?\d+(\.\d+)?(/\d+)?", text) else None
    except (ValueError, ZeroDivisionError):
        return None


def mutated(golds: list[str]) -> list[Row]:
    """One digit of each gold changed, where exact arithmetic shows that the value changes."""
    draw = random.Random(7)
    rows: list[Row] = []
    for gold in golds:
        digits = [i for i, c in enumerate(gold) if c.isdigit()]
        if not digits:
            continue
        at = draw.choice(digits)
        other = gold[:at] + draw.choice([d for d in "123456789" if d != gold[at]]) + gold[at + 1:]
        before, after = plain_value(gold), plain_value(other)
        if before is not None and after is not None and before != after:
            rows.append((gold, "\\boxed{" + other.strip("$ ") + "}", False))
    return rows


def load(root: Path) -> dict[str, list[Row]]:
    sets: dict[str, list[Row]] = {}
    sets["qwen25 completions"] = [
        (r["gold"], r["pred"], r["expected"]) for r in rows_of(root / "qwen25_math_outputs/math_cot_100_triples.jsonl")
    ]
    sets["gsm8k completions"] = [
        (r["gold"], r["pred"], r["expected"]) for r in rows_of(root / "gsm8k/example_model_solutions_triples.jsonl")
    ]
    golds = [str(r["answer"]) for path in sorted((root / "math_golds").glob("*.jsonl")) for r in rows_of(path)]
    golds = [gold for gold in golds if gold.strip()]
    sets["golds against themselves"] = [(gold, "\\boxed{" + gold.strip("$ ") + "}", True) for gold in golds]
    sets["golds, a digit changed"] = mutated(golds)
    sets["hardverify rows"] = [
        (r["gold"], r["pred"], r["expected"]) for r in rows_of(root / "hardverify_math/hardverify_math_triples.jsonl")
    ]
    return sets


class Rewardloop:
    def __init__(self) -> None:
        import rewardloop as rl

        self.rl = rl

    def run(self, rows: list[Row]) -> tuple[list[bool], float]:
        golds, predictions = [r[0] for r in rows], [r[1] for r in rows]
        begin = time.process_time()
        results = self.rl.verify_batch(golds, predictions)
        spent = time.process_time() - begin
        return [r.status == "scored" and r.score == 1.0 for r in results], spent

    def one(self, gold: str, prediction: str) -> float:
        begin = time.process_time_ns()
        self.rl.verify(gold, prediction)
        return (time.process_time_ns() - begin) / 1e9


class MathVerify:
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

    def judge(self, gold: str, prediction: str) -> bool:
        text = self.wrapped(prediction) if len(prediction) < 300 else prediction
        parsed = self._parse(text, self._config, parsing_timeout=None)
        return bool(self._verify(self._gold(gold), parsed, timeout_seconds=None))

    def judge_raw(self, gold: str, prediction: str) -> bool:
        return bool(self._verify(self._parse(gold, parsing_timeout=5), self._parse(prediction, parsing_timeout=5)))

    def run(self, rows: list[Row]) -> tuple[list[bool], list[float]]:
        for gold, _, _ in rows:
            self._gold(gold)
        verdicts, times = [], []
        for gold, prediction, _ in rows:
            begin = time.process_time_ns()
            verdicts.append(self.judge(gold, prediction))
            times.append((time.process_time_ns() - begin) / 1e9)
        return verdicts, times


def verl_verdicts(python: str, rows: list[Row]) -> dict[str, list[bool | None]]:
    pairs = [(g, p if "boxed" in p or len(p) > 300 else "\\boxed{" + p.strip("$") + "}") for g, p, _ in rows]
    done = subprocess.run([python, str(REPOSITORY / "bench/peers/verl_graders.py")], input=json.dumps(pairs), text=True,
                          capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def quantile(values: list[float], q: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def accuracy(rows: list[Row], verdicts: list[bool | None]) -> str:
    """"right %, paid wrongly" over the labelled rows."""
    labelled = [(bool(paid), expected) for paid, (_, _, expected) in zip(verdicts, rows) if expected is not None]
    right = sum(paid == bool(expected) for paid, expected in labelled)
    wrong = sum(paid and not expected for paid, expected in labelled)
    return f"{100 * right / max(1, len(labelled)):.1f} %, {wrong}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=250, help="rows of each set for the Python graders (they are slow)")
    parser.add_argument("--repeat", type=int, default=9, help="passes of rewardloop; the median counts")
    parser.add_argument("--without-math-verify", action="store_true")
    parser.add_argument("--verl-python", default=os.environ.get("VERL_PYTHON", ""), help="Python of an environment with verl")
    args = parser.parse_args()
    sets = load(corpora())
    ours = Rewardloop()
    theirs = None
    if not args.without_math_verify:
        try:
            theirs = MathVerify()
        except ImportError as error:
            print(f"bench: math-verify is not installed ({error}); its columns are left out", file=sys.stderr)
    verl = args.verl_python
    if not verl:
        print("bench: no environment with verl (VERL_PYTHON); prime_math and math_reward are left out", file=sys.stderr)
    speed, table = [], []
    for name, rows in sets.items():
        ours.run(rows[:50])
        passes = [ours.run(rows) for _ in range(args.repeat)]
        verdicts = passes[0][0]
        rate = len(rows) / max(1e-9, quantile([spent for _, spent in passes], 0.5))
        times = [min(ours.one(g, p) for _ in range(3)) * 1e6 for g, p, _ in rows]
        line = f"{name:<26}{len(rows):>6}{rate:>14,.0f}{quantile(times, 0.5):>8.1f}{quantile(times, 0.99):>9.1f}{max(times):>9.1f}"
        sample = rows[:: max(1, len(rows) // args.rows)][: args.rows]
        sample_verdicts = verdicts[:: max(1, len(rows) // args.rows)][: args.rows]
        cells = {"rewardloop, all": accuracy(rows, verdicts), "rewardloop": accuracy(sample, sample_verdicts)}
        if theirs is not None:
            theirs.run(sample[:5])
            their_verdicts, their_times = theirs.run(sample)
            their_rate = len(sample) / sum(their_times)
            line += (f"{len(sample):>8}{their_rate:>12,.0f}{quantile(their_times, 0.99) * 1e6:>12,.0f}"
                     f"{max(their_times) * 1e6:>12,.0f}{rate / their_rate:>10,.0f}")
            cells["math-verify"] = accuracy(sample, their_verdicts)
            cells["math-verify raw"] = accuracy(sample, [theirs.judge_raw(g, p) for g, p, _ in sample])
        if verl:
            try:
                cells |= {grader: accuracy(sample, paid) for grader, paid in verl_verdicts(verl, sample).items()}
            except (RuntimeError, OSError, ValueError) as error:
                print(f"bench: {verl} cannot run verl's graders ({error}); their columns are left out", file=sys.stderr)
                verl = ""
        speed.append(line)
        table.append((name, len(sample), cells))
    print("CPU time, one core")
    print(f"{'set':<26}{'rows':>6}{'pairs/s':>14}{'p50 us':>8}{'p99 us':>9}{'max us':>9}"
          + (f"{'rows':>8}{'math-verify':>12}{'p99 us':>12}{'max us':>12}{'ratio':>10}" if theirs is not None else ""))
    print("\n".join(speed))
    print("\nright, and how many were paid wrongly")
    columns = list(dict.fromkeys(key for _, _, cells in table for key in cells))
    print(f"{'set':<26}{'rows':>6}" + "".join(f"{column:>18}" for column in columns))
    for name, count, cells in table:
        print(f"{name:<26}{count:>6}" + "".join(f"{cells.get(column, '-'):>18}" for column in columns))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
