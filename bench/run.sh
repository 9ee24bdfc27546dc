#!/usr/bin/env bash
# All benchmarks, one after the other; each checks its answers and fails when one is wrong. Run on a quiet machine.
#   VERL_PYTHON=path/to/python   also measure verl's own reward loop (an environment with verl 0.9.1)
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python

measure() {
  echo "=== $*"
  local status=0
  "$@" || status=$?
  # 77: something it needs is absent, and it said what.
  [ "$status" = 0 ] || [ "$status" = 77 ] || exit "$status"
}

ninja -C build/release --quiet engine_wall_clock
measure build/release/bench/engine_wall_clock
measure $python bench/cli_gsm8k.py
measure $python bench/python_submit_collect.py ${VERL_PYTHON:+--verl-python "$VERL_PYTHON"}
measure $python bench/user_functions.py ${VERL_PYTHON:+--verl-python "$VERL_PYTHON"}
measure $python bench/math_vs_math_verify.py ${VERL_PYTHON:+--verl-python "$VERL_PYTHON"}
