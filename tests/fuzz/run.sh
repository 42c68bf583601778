#!/usr/bin/env bash
# tests/fuzz/run.sh TARGET|all SECONDS [libFuzzer's options…]: builds a target and runs it so long.
# New inputs go to build/fuzz/corpus/TARGET, what breaks it to build/fuzz/crashes/. Exit code 1: it broke.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

targets=()
for file in tests/fuzz/*.cpp; do
  [[ $file == *_test.cpp ]] || targets+=("$(basename "$file" .cpp)")
done
if [ $# -lt 2 ]; then
  echo "usage: tests/fuzz/run.sh TARGET|all SECONDS; targets: ${targets[*]}" >&2
  exit 2
fi
target=$1 seconds=$2
shift 2
[ "$target" = all ] || targets=("$target")

if ! command -v clang++-14 >/dev/null || ! ls /usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a >/dev/null 2>&1; then
  echo "the fuzzers need clang: apt-get install clang-14 libclang-rt-14-dev" >&2
  exit 2
fi
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz >/dev/null
ninja -C build/fuzz "${targets[@]/#/fuzz_}" >&2

mkdir -p build/fuzz/crashes
broken=0
for name in "${targets[@]}"; do
  found="build/fuzz/corpus/$name" log="build/fuzz/$name.log"
  mkdir -p "$found"
  if ! build/fuzz/bin/"fuzz_$name" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/crashes/$name-" "$@" "$found" "tests/fuzz/corpus/$name" \
    >"$log" 2>&1; then
    broken=1
    echo "$name: broken; see $log and build/fuzz/crashes/" >&2
  fi
  echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
done
exit "$broken"
