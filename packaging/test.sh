#!/usr/bin/env bash
# Sets up what this machine lacks for Heddle's tests, builds everything and runs all of them:
#   packaging/test.sh [ARGUMENTS OF ctest...]       such as: -R recipe, -V
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"
source "$here/lib/libraries.sh"
source "$here/lib/build.sh"

lock_setup
install_packages "$here/debian-packages.txt" "$here/debian-packages-test.txt"
variant=$(variant cpu)
fetch_libtorch "$variant"
fetch_arrow
build "$variant"
unlock_setup
cd "$HEDDLE_ROOT"
exec ctest --preset release "$@"
