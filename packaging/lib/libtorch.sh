# LibTorch in the cache: fetched once, kept until the lock file changes. Sourced, not run.
# shellcheck shell=bash

# fetch_libtorch VARIANT: VARIANT is cpu, or cuda for the GPU libraries as well.
# Debian's own python3 and pip, without the user's: pip knows the indexes, proxies and certificates
# that this machine is configured with.
fetch_libtorch() {
  /usr/bin/python3 -E -s -B "$HEDDLE_ROOT/packaging/lib/libtorch.py" \
    "$HEDDLE_ROOT/packaging/libtorch.lock" "$1" "$HEDDLE_LIBTORCH" >&2 || exit
}
