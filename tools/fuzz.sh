#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and runs each for the given time; fails on the first crash.
#   tools/fuzz.sh [seconds each = 60] [targets...]
# Seeds: tests/math/fuzz_seeds/<target>/. What was found is kept in build/fuzz/corpus/<target>/, crashes in build/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
compiler=${CXX_FUZZ:-clang++-19}
command -v "$compiler" >/dev/null || { echo "tools/fuzz.sh: $compiler is not installed; run: tools/setup.sh --sanitizers" >&2; exit 2; }
build=build/fuzz
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_C_COMPILER="${compiler/++/}" \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O1 -g1" -DREWARDLOOP_FUZZ=ON -DREWARDLOOP_TESTS=OFF -DREWARDLOOP_SANITIZE=address >/dev/null
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || targets=(math_extract_fuzz math_parser_fuzz math_decide_fuzz)
ninja -C "$build" --quiet "${targets[@]}"
for target in "${targets[@]}"; do
  corpus=$build/corpus/$target
  mkdir -p "$corpus"
  seeds=tests/math/fuzz_seeds/$target
  echo "$target: $seconds s"
  "$build/src/math/$target" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="$build/$target-" "$corpus" $([[ -d $seeds ]] && echo "$seeds") 2>&1 | grep -v "^$" | tail -n 12
done
echo "tools/fuzz.sh: no crash"
