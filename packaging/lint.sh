#!/usr/bin/env bash
# Checks the form of the code:
#   packaging/lint.sh format              clang-format over every tracked file; quick
#   packaging/lint.sh tidy [FILE.cpp...]  clang-tidy over these files, or all; needs a build
#   packaging/lint.sh --shape [COMMIT]    counts: words, circles, files that one more of a kind touches
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
cd "$HEDDLE_ROOT"

format() {
  git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format --dry-run -Werror
}

# clang-tidy reads the commands of a build that compiles each file by itself, with what the release build
# generated. It cannot read g++'s precompiled header: it is given the header itself.
tidy() {
  local cache=build/release/CMakeCache.txt database
  [[ -f $cache ]] || fail 2 "no $cache: run packaging/test.sh or cmake --preset release first"
  database=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$database'" EXIT
  local settings
  mapfile -t settings < <(sed -n 's/^HEDDLE_\(LIBTORCH\|ARROW\|CUDA\):/-D&/p' "$cache")
  cmake --preset release -B "$database" "${settings[@]}" -DHEDDLE_UNITY=OFF >/dev/null || fail 1 "configuring failed"
  sed -i -E -e 's/ (-fpch-preprocess|-Winvalid-pch|-Wno-restrict|-Wno-subobject-linkage|-fno-thread-jumps)//g' \
    -e "s|-include [^ ]*cmake_pch\\.hxx|-include $HEDDLE_ROOT/engine/torch_headers.h|g" \
    -e "s|$database|$HEDDLE_ROOT/build/release|g" "$database/compile_commands.json"
  local files=("$@")
  (($#)) || mapfile -t files < <(git ls-files '*.cpp')
  printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$database"
}

case ${1:-} in
  format) format ;;
  tidy) shift && tidy "$@" ;;
  --shape) shift && exec "$here/shape.py" "$@" ;;
  *) fail 2 "usage: packaging/lint.sh format | tidy [FILE.cpp...] | --shape [COMMIT]" ;;
esac
