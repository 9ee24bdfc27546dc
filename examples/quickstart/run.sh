#!/usr/bin/env bash
# Scores the rollouts of this folder: what `make demo` runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=build/demo/scored.jsonl
mkdir -p build/demo
rm -f "$out" "$out".*
# Three rows cannot be judged (no ground truth, a broken one, an unknown source): allowed here, else the exit status is 1.
.venv/bin/rewardloop score examples/quickstart/rollouts.jsonl --config examples/quickstart/rewards.yaml \
  --max-unscored 3 --output "$out"
cat <<TEXT

Scored rows: $out
Why one row got its score:   .venv/bin/rewardloop explain examples/quickstart/rollouts.jsonl --config examples/quickstart/rewards.yaml --id math-00/0
From Python:                 .venv/bin/python examples/quickstart/score.py
TEXT
