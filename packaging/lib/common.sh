# Shared by the scripts of this folder: where things are, and how they speak. Sourced, not run.
# shellcheck shell=bash

HEDDLE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
HEDDLE_CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/heddle"
HEDDLE_LIBTORCH="$HEDDLE_CACHE/libtorch-2.11.0"
HEDDLE_ARROW="$HEDDLE_CACHE/arrow-26.0.1"

# Everything a script says goes to stderr: stdout belongs to the program that it starts.
say() { printf 'heddle: %s\n' "$*" >&2; }

# fail EXIT_CODE MESSAGE...
fail() {
  local code=$1
  shift
  say "$@"
  exit "$code"
}

# Two set-ups at once would install and build the same things twice: the second one waits. The folder and
# the lock are this user's alone: nobody else can hold it, or put wheels there.
lock_setup() {
  local lock="$HEDDLE_CACHE/setup.lock"
  (umask 077 && mkdir -p "$HEDDLE_CACHE" && { [ -L "$lock" ] || : >>"$lock"; })
  [ -O "$HEDDLE_CACHE" ] || fail 1 "$HEDDLE_CACHE belongs to someone else: remove it, or set XDG_CACHE_HOME"
  chmod go-w "$HEDDLE_CACHE"
  if [ -L "$lock" ] || [ ! -O "$lock" ]; then fail 1 "$lock is not yours: remove it"; fi
  chmod 600 "$lock"
  exec {setup_lock}>>"$lock"
  if ! flock --nonblock "$setup_lock"; then
    say "another set-up is running (process $(cat "$lock")); waiting for it"
    flock "$setup_lock"
  fi
  echo $$ >"$lock"
}

unlock_setup() { exec {setup_lock}>&-; }
