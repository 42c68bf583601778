#!/usr/bin/env bash
# Makes one archive with the workbench, the engine and all that they load, the loader and libc included. Unpacked
# anywhere on Debian 11 or newer, x86-64, it runs without installing anything: heddle, heddle-engine.
#   packaging/portable.sh [FILE.tar.gz]         default: build/heddle-VERSION-x86_64.tar.gz
# It trains on CPUs and brings the engine to hosts; the plug-ins for GPUs and for Parquet are not in it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"
source "$here/lib/libraries.sh"
source "$here/lib/build.sh"
source "$here/lib/licences.sh"

[[ $# -le 1 && ${1:-x.tar.gz} == *.tar.gz ]] || fail 2 "portable.sh takes the name of an archive: FILE.tar.gz"

set_up cpu heddle heddle-engine heddle-pack

name=heddle-$(version)
archive=${1:-$HEDDLE_ROOT/build/$name-x86_64.tar.gz}
stage=$(mktemp -d "${TMPDIR:-/tmp}/heddle-portable.XXXXXX")
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
top=$stage/$name

bin=$HEDDLE_BUILD/bin
"$bin/heddle-pack" "$bin/heddle-engine" "$bin/heddle" "$top" >"$stage/files"
cp "$here/portable/heddle" "$here/portable/heddle-engine" "$top"
copy_shared "$top/share/heddle"
# For machines without them.
mkdir -p "$top/share/fontconfig"
cp "$here/portable/fonts.conf" "$top/share/fontconfig"
cp -rL /usr/share/X11/xkb "$top/share/xkb"
cp -r /usr/share/X11/locale "$top/share/X11-locale"
printf '%s\n' /usr/share/X11/xkb /usr/share/X11/locale >>"$stage/files"
copy_licences "$top/licences" <"$stage/files"

tar --create --gzip --file "$archive.part" --directory "$stage" --owner=0 --group=0 --numeric-owner "$name"
mv "$archive.part" "$archive"
say "$archive: $(du -h "$archive" | cut -f1), unpacked $(du -sh "$top" | cut -f1)"
