#!/usr/bin/env bash
# The first hour on a machine with GPUs: checks and measures Heddle there, within 25 minutes, without a network.
#   packaging/gpu-check.sh [--python PYTHON] [--build FOLDER] [--to FOLDER] [--peer SCRIPT] [--only PART,...] [--tiny]
#   packaging/gpu-check.sh --pack FOLDER
# PYTHON has torch 2.11, whose libraries are used (default: python3). FOLDER of --build holds the programs: what
# --pack has put together on a machine with a network, or build/release (the default). --to receives
# gpu-check.json, gpu-check.txt and a log of each part (default: gpu-check). A part that is done there already is
# not done again, so a check that was cut off goes on when it is called again. --peer is the training script that
# Heddle is compared with (docs/verification.md); without it Heddle is measured alone. --tiny tries the check itself,
# on shapes of seconds. The exit code is 1 if a part failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"

if [[ ${1:-} != --pack ]]; then
  exec python3 -B "$here/lib/gpu_check.py" "$@"
fi

[[ $# == 2 ]] || fail 2 "usage: gpu-check.sh --pack FOLDER"
to=$2
source "$here/lib/debian.sh"
source "$here/lib/libraries.sh"
source "$here/lib/build.sh"
lock_setup
install_packages "$here/debian-packages-test.txt"
fetch_libtorch cuda
build cuda heddle-engine heddle_cuda gpu_check
unlock_setup

# What the programs load, but for the C library, LibTorch and CUDA, which the other machine has.
mkdir -p "$to"
for program in heddle-engine gpu_check libheddle_cuda.so; do
  strip -o "$to/$program" "$HEDDLE_BUILD/bin/$program"
  ldd "$HEDDLE_BUILD/bin/$program" | awk '$3 ~ "^/" { print $3 }'
done | sort -u | grep -vE "^$HEDDLE_LIBTORCH|/(libc|libm|libdl|libpthread|libresolv|librt|libutil|ld-linux[^/]*)\.so" | while read -r library; do
  cp -L "$library" "$to/"
done
say "$to: $(du -sh "$to" | cut -f1); there: packaging/gpu-check.sh --build $to"
