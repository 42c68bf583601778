# Bare Debians to run things in: made by debootstrap, mounted, entered, removed. Sourced, not run; needs root.
# shellcheck shell=bash

chroot_mounts=(proc sys dev dev/pts dev/shm tmp)

# need_chroots SCRIPT: exit code 2 where none can be made.
need_chroots() {
  ((EUID == 0)) || fail 2 "$1 needs root: it mounts and changes the root folder"
  command -v debootstrap >/dev/null || fail 2 "debootstrap is missing: apt-get install debootstrap"
}

# The mirror that this machine's own packages come from.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016
  mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
    sed -n 's/ bookworm$//p' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')
  [[ -n $mirror ]] || fail 2 "apt knows no mirror with bookworm: run apt-get update"
  echo "$mirror"
}

# make_debian SUITE ROOT [PACKAGES]: a minimal Debian in the folder ROOT. PACKAGES: more of it, with commas.
make_debian() {
  local suite=$1 root=$2 mirror
  mirror=$(debian_mirror) || exit
  debootstrap --variant=minbase ${3:+--include="$3"} "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
    fail 1 "debootstrap of $suite failed: $(tail -n 3 "$root.log")"
  rm -f "$root.log"
  chmod 755 "$root"
}

# copy_network_settings ROOT: so that packages can be had there as they can here: certificates, name server.
copy_network_settings() {
  local file
  for file in /etc/pip.conf /etc/resolv.conf /etc/hosts /usr/local/share/ca-certificates; do
    [[ ! -e $file ]] || cp -aL --parents "$file" "$1"
  done
  apt-config dump Acquire >"$1/etc/apt/apt.conf.d/90acquire"
}

mount_chroot() {
  local root=$1 device
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
}

# remove_chroot ROOT: mounted or not.
remove_chroot() {
  local root=$1 i
  for ((i = ${#chroot_mounts[@]} - 1; i >= 0; i--)); do
    mountpoint -q "$root/${chroot_mounts[i]}" && umount --lazy "$root/${chroot_mounts[i]}"
  done
  mountpoint -q "$root" && umount --lazy "$root"
  rm -rf --one-file-system "$root"
}
