#!/usr/bin/env bash
# Sets up what this machine lacks for Heddle, builds it and starts it with the given arguments:
#   packaging/start.sh [--cuda] [ARGUMENTS OF heddle...]
# Without arguments it opens the workbench. What is done already is skipped. --cuda builds the engine's
# plug-in for GPUs too, on any machine; it downloads 2.1 GB more and unpacks to 3.6 GB.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"
source "$here/lib/libtorch.sh"
source "$here/lib/build.sh"

asked=cpu
if [[ ${1:-} == --cuda ]]; then
  asked=cuda
  shift
fi

lock_setup
install_packages "$here/debian-packages.txt"
variant=$(variant "$asked")
fetch_libtorch "$variant"
targets=(heddle heddle-engine)
[[ $variant == cuda ]] && targets+=(heddle_cuda)
build "$variant" "${targets[@]}"
unlock_setup
exec "$HEDDLE_BUILD/bin/heddle" "$@"
