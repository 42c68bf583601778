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

((EUID == 0)) || fail 2 "fresh-machine.sh needs root: it mounts and changes the root folder"
command -v debootstrap >/dev/null || fail 2 "debootstrap is missing: apt-get install debootstrap"
(($#)) || set -- packaging/start.sh --demo

root=$(mktemp -d "${TMPDIR:-/tmp}/heddle-fresh.XXXXXX")
mounts=(proc sys dev dev/pts dev/shm tmp)
clean_up() {
  local i
  for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
    mountpoint -q "$root/${mounts[i]}" && umount --lazy "$root/${mounts[i]}"
  done
  mountpoint -q "$root" && umount --lazy "$root"
  rm -rf --one-file-system "$root"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# The mirror that this machine's own packages come from.
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
  sed -n 's/ bookworm$//p' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
[[ -n $mirror ]] || fail 2 "apt knows no mirror with bookworm: run apt-get update"

say "making a minimal Debian 12 in $root"
debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
  fail 1 "debootstrap failed: $(tail -n 3 "$root.log")"
rm -f "$root.log" "$root/etc/apt/sources.list"
chmod 755 "$root"

# So that packages can be had there as they can here: sources, certificates, indexes, name server.
copy() { [[ ! -e $1 ]] || cp -aL --parents "$1" "$root"; }
for file in /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources /etc/pip.conf \
  /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates; do
  copy "$file"
done
apt-config dump Acquire >"$root/etc/apt/apt.conf.d/90acquire"
settings=(HOME=/root LANG=C.UTF-8 "TERM=${TERM:-dumb}"
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
while IFS= read -r setting; do
  settings+=("$setting")
done < <(env | grep -iE '^(PIP_(INDEX_URL|EXTRA_INDEX_URL|PROXY)|https?_proxy|no_proxy)=' || true)

mount --bind "$root" "$root" # programs inside ask that / be a mount point
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sys "$root/sys"
mount -t tmpfs -o mode=755 dev "$root/dev"
mkdir -p "$root/dev/pts" "$root/dev/shm"
for device in null zero full random urandom tty; do
  cp -a "/dev/$device" "$root/dev/"
done
ln -s /proc/self/fd "$root/dev/fd"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"

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
