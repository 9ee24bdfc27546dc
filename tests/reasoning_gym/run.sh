#!/usr/bin/env bash
# Right and wrong answers of reasoning-gym's task families, each through the scorer that fits its kind.
# ROWS: how many of either (2,000; the full run is ROWS=100000, about 10 minutes of one core).
set -euo pipefail
cd "$(dirname "$0")/../.."
# Some families iterate over sets of strings: without a fixed hash seed the rows would differ from run to run.
export PYTHONHASHSEED=0
exec .venv/bin/python tests/reasoning_gym/check.py --rows "${ROWS:-2000}" \
  --cli "${REWARDLOOP_CLI:-build/release/bin/rewardloop}" "$@"
