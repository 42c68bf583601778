# Shared by the scripts of this folder: where things are, and how they speak. Sourced, not run.
# shellcheck shell=bash

HEDDLE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
HEDDLE_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/heddle"
HEDDLE_LIBTORCH="$HEDDLE_CACHE/libtorch-2.11.0"

# Everything a script says goes to stderr: stdout belongs to the program that it starts.
say() { printf 'heddle: %s\n' "$*" >&2; }

# fail EXIT_CODE MESSAGE...
fail() {
  local code=$1
  shift
  say "$@"
  exit "$code"
}

# Two set-ups at once would install and build the same things twice: the second one waits.
lock_setup() {
  mkdir -p "$HEDDLE_CACHE"
  exec {setup_lock}>"$HEDDLE_CACHE/setup.lock"
  if ! flock --nonblock "$setup_lock"; then
    say "another set-up is running; waiting for it"
    flock "$setup_lock"
  fi
}

unlock_setup() { exec {setup_lock}>&-; }
