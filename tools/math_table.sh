#!/usr/bin/env bash
# Prints the acceptance table of the math verifier and fails where a figure is below its threshold.
#   tools/math_table.sh [build directory]      (default build/release; rows that differ: REWARDLOOP_MATH_TABLE_ROWS=1)
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
test_program=$build/src/math/math_test
[[ -x $test_program ]] || { echo "tools/math_table.sh: $test_program is not built; run: ninja -C $build math_test" >&2; exit 2; }
exec "$test_program" --gtest_filter='MathCorpora.*:MathMutations.*' --gtest_brief=1
