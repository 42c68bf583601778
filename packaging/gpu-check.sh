#!/usr/bin/env bash
# The first hour on a machine with GPUs: checks and measures Heddle there, within 25 minutes, without a network.
#   packaging/gpu-check.sh [--python PYTHON] [--build FOLDER|ARCHIVE] [--to FOLDER] [--peer SCRIPT]
#                          [--call N | --only PART,...] [--tiny]
#   packaging/gpu-check.sh --pack ARCHIVE
# PYTHON has torch 2.11, whose libraries are used (default: python3). --build names the programs: the archive (.tar.xz)
# that --pack has made on a machine with a network, or a build's folder (default: build/release/bin). --to receives
# gpu-check.json, gpu-check.txt and gpu-check.log (default: gpu-check). A part that is done there already is
# not done again, so a check that was cut off goes on when it is called again. --call N runs the parts of the Nth call, within
# 390 s: for a machine that is lent for minutes (docs/gpu-first-hour.md). --peer is the training script that
# Heddle is compared with (docs/verification.md); without it Heddle is measured alone. --tiny tries the check itself,
# on shapes of seconds. The exit code is 1 if a part failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"

if [[ ${1:-} != --pack ]]; then
  exec python3 -B "$here/lib/gpu_check.py" "$@"
fi

[[ $# == 2 && $2 == *.tar.xz ]] || fail 2 "usage: gpu-check.sh --pack ARCHIVE.tar.xz"
archive=$(realpath -m "$2")
source "$here/lib/debian.sh"
source "$here/lib/libraries.sh"
source "$here/lib/build.sh"
lock_setup
install_packages "$here/debian-packages-test.txt"
fetch_libtorch cuda
build cuda heddle-engine heddle_cuda gpu_check
unlock_setup

# Copies the libraries that the programs load, except the other machine's: LibTorch, CUDA, C and C++, which must
# not come before its own newer ones.
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
for program in heddle-engine libheddle_torch.so gpu_check libheddle_cuda.so; do
  strip -o "$to/$program" "$HEDDLE_BUILD/bin/$program"
  ldd "$HEDDLE_BUILD/bin/$program" | awk '$3 ~ "^/" { print $3 }'
done | sort -u | grep -vE "^$HEDDLE_LIBTORCH|/(libc|libm|libdl|libpthread|libresolv|librt|libutil|libstdc\+\+|libgcc_s|ld-linux[^/]*)\.so" | while read -r library; do
  cp -L "$library" "$to/"
done
mkdir -p "$(dirname "$archive")"
XZ_OPT=-9 tar -C "$to" -cJf "$archive" .
say "$archive: $(du -h "$archive" | cut -f1); there: packaging/gpu-check.sh --build ${archive##*/}"
