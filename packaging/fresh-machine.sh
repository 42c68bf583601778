#!/usr/bin/env bash
# Shows that one command sets Heddle up on a fresh Debian 12, and that it then starts without a
# network:
#   packaging/fresh-machine.sh [COMMAND...]          default: packaging/start.sh --demo
# Makes a minimal Debian 12 in a temporary folder with none of this machine's caches, clones what is
# committed here into it, and runs COMMAND there twice, the second time with the network off. States
# the time of both and what was downloaded. Needs root and debootstrap; TMPDIR needs 5 GB.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/chroot.sh"

need_chroots fresh-machine.sh
(($#)) || set -- packaging/start.sh --demo

root=$(mktemp -d "${TMPDIR:-/tmp}/heddle-fresh.XXXXXX")
clean_up() { remove_chroot "$root"; }
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

say "making a minimal Debian 12 in $root"
make_debian bookworm "$root"
# The sources of this machine's packages.
rm -f "$root/etc/apt/sources.list"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources; do
  [[ ! -e $file ]] || cp -aL --parents "$file" "$root"
done
copy_network_settings "$root"
settings=(HOME=/root LANG=C.UTF-8 "TERM=${TERM:-dumb}"
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
while IFS= read -r setting; do
  settings+=("$setting")
done < <(env | grep -iE '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|PROXY)|https?_proxy|no_proxy)=' || true)

mount_chroot "$root"

git clone --quiet --no-local --depth 1 "file://$HEDDLE_ROOT" "$root/srv/heddle"

# The bytes that came in through the interface of the default route: other programs' count too.
received() {
  local interface
  interface=$(awk '$2 == "00000000" { print $1; exit }' /proc/net/route)
  cat "/sys/class/net/${interface:-lo}/statistics/rx_bytes"
}

# in_root [unshare -n] COMMAND...
in_root() {
  "${network[@]}" chroot "$root" env -i "${settings[@]}" \
    sh -c 'cd /srv/heddle && exec "$@"' sh "$@" </dev/null
}

rate() {
  local name=$1 code=0 before began
  shift
  before=$(received)
  began=$EPOCHREALTIME
  in_root "$@" || code=$?
  awk -v name="$name" -v code="$code" \
    -v began="$began" -v ended="$EPOCHREALTIME" -v bytes=$(($(received) - before)) 'BEGIN {
      printf "fresh machine, %s: exit code %d, %.1f s, %.0f MB received\n",
             name, code, ended - began, bytes / 1e6 }'
  return "$code"
}

network=()
rate "first start" "$@"
network=(unshare --net)
rate "second start, network off" "$@"
