#!/usr/bin/env bash
# Makes a Debian package of the workbench and the engine, for the Debian that it is made on (12) and newer ones that have
# the libraries it names:
#   packaging/deb.sh [FILE.deb]         default: build/heddle_VERSION_amd64.deb
# LibTorch, which Debian 12 does not have in this version, is inside; everything else is a dependency. It trains on CPUs
# and brings the engine to hosts; the plug-ins for GPUs and for Parquet are not in it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"
source "$here/lib/libraries.sh"
source "$here/lib/build.sh"
source "$here/lib/licences.sh"

[[ $# -le 1 && ${1:-x.deb} == *.deb ]] || fail 2 "deb.sh takes the name of a package: FILE.deb"

command -v dpkg-shlibdeps >/dev/null || fail 2 "dpkg-shlibdeps is missing: apt-get install dpkg-dev"

set_up cpu heddle heddle-engine

package=${1:-$HEDDLE_ROOT/build/heddle_$(version)_amd64.deb}
stage=$(mktemp -d "${TMPDIR:-/tmp}/heddle-deb.XXXXXX")
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
tree=$stage/tree
home=$tree/usr/lib/heddle

umask 022
mkdir -p "$home/bin" "$home/lib" "$home/share" "$tree/usr/bin" "$tree/DEBIAN"
cp "$HEDDLE_BUILD"/bin/{heddle,heddle-engine,libheddle_torch.so} "$home/bin"
while read -r library; do
  cp -L "$HEDDLE_LIBTORCH/lib/$library" "$home/lib"
done < <(LD_TRACE_LOADED_OBJECTS=1 /lib64/ld-linux-x86-64.so.2 "$HEDDLE_BUILD/bin/libheddle_torch.so" |
  awk -v from="$HEDDLE_LIBTORCH/lib/" 'index($3, from) == 1 { print $1 }')
# The build's own folders are of no use elsewhere.
cat >"$stage/rpath.cmake" <<'END'
file(RPATH_SET FILE "${FILE}" NEW_RPATH "$ORIGIN:$ORIGIN/../lib")
END
cmake -DFILE="$home/bin/libheddle_torch.so" -P "$stage/rpath.cmake"
ln -s ../lib/heddle/bin/heddle ../lib/heddle/bin/heddle-engine "$tree/usr/bin"

copy_shared "$tree/usr/share/heddle"
ln -s ../../../share/heddle "$home/share/heddle"
install -D -m 644 "$HEDDLE_ROOT/resources/heddle.desktop" "$tree/usr/share/applications/heddle.desktop"
install -D -m 644 "$HEDDLE_ROOT/resources/application.svg" "$tree/usr/share/icons/hicolor/scalable/apps/heddle.svg"
install -D -m 644 "$HEDDLE_ROOT/resources/heddle.mime.xml" "$tree/usr/share/mime/packages/heddle.xml"
copy_licences "$tree/usr/share/doc/heddle" </dev/null
cp "$HEDDLE_ROOT/LICENSE" "$tree/usr/share/doc/heddle/copyright"
chmod -R u=rwX,go=rX "$tree"

# dpkg-shlibdeps reads and writes in a source package's folder.
mkdir -p "$stage/debian"
printf 'Source: heddle\n\nPackage: heddle\nArchitecture: amd64\n' >"$stage/debian/control"
depends=$(cd "$stage" && dpkg-shlibdeps -O --ignore-missing-info -l"$home/lib" \
  "$home"/bin/* "$home"/lib/* 2>"$stage/shlibdeps.log" | sed -n 's/^shlibs:Depends=//p')
[[ -n $depends ]] || fail 1 "dpkg-shlibdeps found no dependencies: $(tail -n 3 "$stage/shlibdeps.log")"
cat >"$tree/DEBIAN/control" <<END
Package: heddle
Version: $(version)
Architecture: amd64
Maintainer: Heddle's developers <heddle@localhost>
Installed-Size: $(du -sk "$tree/usr" | cut -f1)
Depends: $depends
Recommends: qt6-wayland
Section: science
Priority: optional
Description: workbench for Llama training runs
 Composes, launches, watches and compares training runs on this machine and on hosts over SSH, with a training engine
 in C++ on LibTorch, which is inside this package.
END
dpkg-deb --root-owner-group -Zzstd --build "$tree" "$package.part" >&2
mv "$package.part" "$package"
say "$package: $(du -h "$package" | cut -f1), needs $(tr , '\n' <<<"$depends" | wc -l) packages of Debian"
