#!/usr/bin/env bash
# Sets up what this machine lacks for Heddle, builds it and starts it with the given arguments:
#   packaging/start.sh [ARGUMENTS OF heddle...]
# Without arguments it opens the workbench. What is done already is skipped.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"
source "$here/lib/libtorch.sh"
source "$here/lib/build.sh"

lock_setup
install_packages "$here/debian-packages.txt"
fetch_libtorch cpu
build OFF heddle heddle-engine
unlock_setup
exec "$HEDDLE_BUILD/bin/heddle" "$@"
