#!/usr/bin/env bash
# Sets up what this machine lacks for Heddle, builds it and starts it with the given arguments:
#   packaging/start.sh [--cuda] [--parquet] [ARGUMENTS OF heddle...]
# Without arguments it opens the workbench. What is done already is skipped. --cuda builds the engine's
# plug-in for GPUs too, on any machine; it downloads 2.1 GB more and unpacks to 3.6 GB. --parquet builds
# its plug-in for texts in Parquet files: 55 MB more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"
source "$here/lib/libraries.sh"
source "$here/lib/build.sh"

asked=cpu
parquet=0
while [[ ${1:-} == --cuda || ${1:-} == --parquet ]]; do
  [[ $1 == --cuda ]] && asked=cuda
  [[ $1 == --parquet ]] && parquet=1
  shift
done

lock_setup
install_packages "$here/debian-packages.txt"
variant=$(variant "$asked")
fetch_libtorch "$variant"
((parquet)) && fetch_arrow
targets=(heddle heddle-engine)
[[ $variant == cuda ]] && targets+=(heddle_cuda)
[[ -d $HEDDLE_ARROW ]] && targets+=(heddle_parquet)
build "$variant" "${targets[@]}"
unlock_setup
exec "$HEDDLE_BUILD/bin/heddle" "$@"
