#!/usr/bin/env python3
"""The command line on GSM8K model solutions, repeated: rows a second and peak memory, answers checked.

    python bench/cli_gsm8k.py [--rows 1000000] [--bin build/release/bin/rewardloop]

Rows are the solutions of ../shared/corpora/gsm8k (or REWARDLOOP_CORPORA), each with an id of its own. Every row of the output is
checked against the corpus' own label: the scorer is asked for right or wrong, not for speed alone. Memory at --rows rows must stay within
64 MB of that at 10,000 rows.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

SOURCE_DIR = pathlib.Path(__file__).resolve().parents[1]
SMALL = 10_000
ALLOWED_GROWTH_MB = 64


def corpus() -> pathlib.Path:
    base = os.environ.get("REWARDLOOP_CORPORA", SOURCE_DIR / "../shared/corpora")
    return pathlib.Path(base) / "gsm8k/example_model_solutions_triples.jsonl"


def write_rows(path: pathlib.Path, triples: list[dict], count: int) -> None:
    parts = [(json.dumps(t["pred"]), json.dumps(t["gold"])) for t in triples]
    with open(path, "w", encoding="utf-8") as file:
        for i in range(count):
            pred, gold = parts[i % len(parts)]
            file.write(f'{{"item_id": "row/{i}", "response": {pred}, "ground_truth": {gold}}}\n')


def score(binary: str, rows: pathlib.Path, out: pathlib.Path, threads: int) -> tuple[float, float, float]:
    """Seconds, seconds of CPU and peak resident MB of one run."""
    started = time.perf_counter()
    process = subprocess.Popen([binary, "score", rows, "--scorer", "gsm8k", "-o", out, "-q", "-j", str(threads)])
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"rewardloop ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def check(out: pathlib.Path, triples: list[dict], count: int) -> dict[str, float]:
    """Compares every row with the label of the corpus; rows that repeat must repeat their verdict."""
    verdicts: list[tuple] = []
    agree = 0
    lines = 0
    with open(out, encoding="utf-8") as file:
        for i, line in enumerate(file):
            row = json.loads(line)
            if row["item_id"] != f"row/{i}" or row["status"] != "scored":
                sys.exit(f"row {i}: {row['item_id']} {row['status']}")
            verdict = (row["score"], row["extracted"], row["reason"])
            if i < len(triples):
                verdicts.append(verdict)
                agree += (row["score"] == 1.0) == triples[i]["expected"]
            elif verdict != verdicts[i % len(triples)]:
                sys.exit(f"row {i}: {verdict} differs from {verdicts[i % len(triples)]}")
            lines += 1
    if lines != count:
        sys.exit(f"{lines} rows of {count}")
    return {"agree_with_labels": agree / min(count, len(triples)), "labels": min(count, len(triples))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--bin", default=str(SOURCE_DIR / "build/release/bin/rewardloop"))
    parser.add_argument("--threads", type=int, default=0, help="0: the CPUs at hand")
    parser.add_argument("--folder", default=None, help="for the rows and the output; about 1 kB a row")
    arguments = parser.parse_args()
    if not corpus().exists():
        sys.exit(f"{corpus()} is not there: set REWARDLOOP_CORPORA")
    triples = [json.loads(line) for line in corpus().read_text(encoding="utf-8").splitlines()]

    report: dict[str, object] = {"threads": arguments.threads or len(os.sched_getaffinity(0))}
    peak = {}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for count in (SMALL, arguments.rows):
            rows, out = pathlib.Path(folder, "rows.jsonl"), pathlib.Path(folder, "out.jsonl")
            write_rows(rows, triples, count)
            seconds, cpu_seconds, peak[count] = score(arguments.bin, rows, out, arguments.threads)
            report[f"{count} rows"] = {
                "rows_per_second": round(count / seconds), "seconds": round(seconds, 2),
                "rows_per_cpu_second": round(count / cpu_seconds),
                "input_mb": round(rows.stat().st_size / 1e6), "mb_per_second": round(rows.stat().st_size / 1e6 / seconds),
                "peak_rss_mb": round(peak[count], 1), **check(out, triples, count)}
    growth = peak[arguments.rows] - peak[SMALL]
    report["memory_growth_mb"] = round(growth, 1)
    report["memory_growth_allowed_mb"] = ALLOWED_GROWTH_MB
    print(json.dumps(report, indent=2))
    if growth > ALLOWED_GROWTH_MB:
        sys.exit(f"memory grew by {growth:.1f} MB")


if __name__ == "__main__":
    main()
