#!/usr/bin/env bash
# stubs.sh PATTERN OUT.cpp LIBRARY... -- OBJECT...: for every function that the libraries want, whose name
# matches the pattern, and that no object has: one that ends the program with its name.
set -euo pipefail
pattern=$1 out=$2
shift 2
libraries=()
while [[ $1 != -- ]]; do
  libraries+=("$1")
  shift
done
shift
wanted() { nm -D --undefined-only "${libraries[@]}" | awk 'NF == 2 { sub(/@.*/, "", $2); print $2 }' | grep -E "$pattern" | sort -u; }
there() { nm --defined-only "$@" | awk 'NF == 3 { print $3 }' | sort -u; }
{
  echo '#include <stdio.h>'
  echo '#include <unistd.h>'
  echo 'static void missing(const char* name) {'
  echo '  fprintf(stderr, "the fake runtime has no %s\n", name);'
  echo '  _exit(4);'
  echo '}'
  echo 'extern "C" {'
  comm -23 <(wanted) <(there "$@") | while read -r name; do
    echo "void $name() { missing(\"$name\"); }"
  done
  echo '}'
} >"$out.new"
mv "$out.new" "$out"
