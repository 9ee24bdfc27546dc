"""Scores right and wrong answers of reasoning-gym through the command line and compares with their labels.

Fails when a wrong answer is paid, when fewer right answers are paid than --min-right, when a row ends without a score, or when
the math verifier leaves more than 0.5 % of the rows undecided (an unevaluated integral against a closed form, for example).
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import rows as rows_module

MAX_UNDECIDED = 0.005  # share of rows


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000, help="right rows, and as many wrong ones")
    parser.add_argument("--cli", default="build/release/bin/rewardloop", help="path of the command line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--families", nargs="*", help="only these")
    parser.add_argument("--keep", type=pathlib.Path, help="folder in which rows and results stay")
    parser.add_argument("--min-right", type=float, default=0.99, help="share of right answers that must be paid")
    parser.add_argument("--show", type=int, default=3, help="examples of each kind of failure")
    return parser.parse_args()


def write_rows(folder: pathlib.Path, args: argparse.Namespace) -> list[str]:
    files: dict[str, Any] = {}
    for pair in rows_module.pairs(args.rows, args.seed, args.families):
        for row in pair:
            if row["scorer"] not in files:
                files[row["scorer"]] = (folder / f"{row['scorer']}.jsonl").open("w", encoding="utf-8")
            files[row["scorer"]].write(json.dumps(row, ensure_ascii=False) + "\n")
    for file in files.values():
        file.close()
    return sorted(files)


def score(folder: pathlib.Path, scorer: str, cli: str) -> list[dict[str, Any]]:
    source, target = folder / f"{scorer}.jsonl", folder / f"{scorer}.scored.jsonl"
    target.unlink(missing_ok=True)
    command = [cli, "score", str(source), "--scorer", scorer, "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):  # 1: some rows have no score, which is counted below
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return [json.loads(line) for line in target.read_text(encoding="utf-8").split("\n") if line]


def show(title: str, found: list[dict[str, Any]], limit: int) -> None:
    if not found:
        return
    print(f"\n{title}: {len(found)}")
    by_kind: dict[tuple[str, str], list[dict[str, Any]]] = collections.defaultdict(list)
    for row in found:
        by_kind[row["data_source"].split("/")[1], row["scorer"]].append(row)
    for (family, scorer), members in sorted(by_kind.items(), key=lambda kind: -len(kind[1])):
        print(f"  {family} / {scorer}: {len(members)}")
        for row in members[:limit]:
            print(f"    truth {row['ground_truth'][:100]!r} said {row['response'][-100:]!r} -> {row['status']} {row['reason']}")


def main() -> int:
    args = parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        scorers = write_rows(folder, args)
        scored = [row for scorer in scorers for row in score(folder, scorer, args.cli)]
    counts = collections.Counter((row["scorer"], row["right"]) for row in scored)
    paid = collections.Counter((row["scorer"], row["right"]) for row in scored if row["score"] == 1.0)
    families = {row["data_source"] for row in scored}
    for scorer in scorers:
        print(f"{scorer:8} right {paid[scorer, True]:6} of {counts[scorer, True]:6} paid, "
              f"wrong {paid[scorer, False]:4} of {counts[scorer, False]:6} paid")  # fmt: skip
    right = sum(n for (_, label), n in counts.items() if label)
    right_paid = sum(n for (_, label), n in paid.items() if label)
    wrong_paid = [row for row in scored if not row["right"] and row["score"] not in (0.0, None)]
    unscored = [row for row in scored if row["status"] != "scored"]
    show("WRONG ANSWERS PAID", wrong_paid, args.show)
    show("right answers not paid", [row for row in scored if row["right"] and row["score"] == 0.0], args.show)
    show("rows without a score", unscored, args.show)
    undecided = [row for row in unscored if row["status"] == "unscorable" and row["error"]["class"] == "unknown"]
    failed = len(unscored) > len(undecided) or len(undecided) > MAX_UNDECIDED * len(scored)
    share = right_paid / max(1, right)
    print(f"\n{len(families)} families, {len(scored)} rows: {len(wrong_paid)} wrong answers paid, "
          f"{right_paid} of {right} right answers paid ({share:.2%}), {len(unscored)} without a score, "
          f"{len(undecided)} of them undecided")  # fmt: skip
    return 0 if scored and not wrong_paid and not failed and share >= args.min_right else 1


if __name__ == "__main__":
    sys.exit(main())
