# Debian packages: which are missing, and installing them. Sourced, not run.
# shellcheck shell=bash

# What start.sh and test.sh installed themselves, so that uninstall.sh can name it.
HEDDLE_INSTALLED="$HEDDLE_CACHE/debian-packages-installed.txt"

# packages_of LIST...: the names in these files, one a line, sorted.
packages_of() { sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$@" | sort -u; }

# missing_packages LIST...: the packages of the lists that are not installed.
missing_packages() {
  comm -23 <(packages_of "$@") \
    <(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

# A test starts an sshd of its own; installing the package must not open port 22 on this machine.
keep_sshd_off() {
  local unit=/etc/systemd/system/ssh.service
  [[ -e $unit || -L $unit ]] && return
  say "openssh-server is installed for the tests only; its service stays off" \
    "(to use it: rm $unit && systemctl daemon-reload)"
  "$@" mkdir -p "${unit%/*}"
  "$@" ln -s /dev/null "$unit"
}

# install_packages LIST...: does nothing when all are there. Exit code 2 without root or sudo.
install_packages() {
  command -v dpkg-query >/dev/null ||
    fail 2 "this is not Debian: install manually what these files name: $*"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo --non-interactive true 2>/dev/null; }; then
      as_root=(sudo)
    else
      say "these Debian packages are missing, and installing them needs root. Run once as root:"
      printf 'apt-get update && apt-get install -y --no-install-recommends %s\n' "${missing[*]}" >&2
      exit 2
    fi
  fi

  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  if [[ " ${missing[*]} " == *" openssh-server "* ]]; then
    keep_sshd_off "${as_root[@]}"
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q)
  { "${apt[@]}" update &&
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; } </dev/null >&2 ||
    fail 1 "apt-get failed: see above; run this again when it is put right"
  printf '%s\n' "${missing[@]}" >>"$HEDDLE_INSTALLED"
}
