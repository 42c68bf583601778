# LibTorch, and Arrow for the Parquet plug-in, in the cache: fetched once, kept until their lock files
# change. Sourced, not run.
# shellcheck shell=bash

# lay_out LOCK VARIANT TARGET
# Debian's own python3 and pip, without the user's: pip knows the indexes, proxies and certificates
# that this machine is configured with.
lay_out() { /usr/bin/python3 -E -s -B "$HEDDLE_ROOT/packaging/lib/lay_out.py" "$@" >&2 || exit; }

# fetch_libtorch VARIANT: VARIANT is cpu, or cuda for the GPU libraries as well.
fetch_libtorch() { lay_out "$HEDDLE_ROOT/packaging/libtorch.lock" "$1" "$HEDDLE_LIBTORCH"; }

fetch_arrow() { lay_out "$HEDDLE_ROOT/packaging/arrow.lock" cpu "$HEDDLE_ARROW"; }
