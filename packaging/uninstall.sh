#!/usr/bin/env bash
# Removes what start.sh and test.sh put on this machine, and lists what stays:
#   packaging/uninstall.sh [--yes] [--all]
# --yes does not ask; --all removes the runs and the settings too.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/debian.sh"

data="${XDG_DATA_HOME:-$HOME/.local/share}/heddle"
settings="${XDG_CONFIG_HOME:-$HOME/.config}/heddle"

ask=1
all=0
for argument; do
  case $argument in
    --yes) ask=0 ;;
    --all) all=1 ;;
    *) fail 2 "$argument: unknown; valid: --yes, --all" ;;
  esac
done

remove=("$HEDDLE_ROOT/build" "$HEDDLE_CACHE")
keep=()
if ((all)); then
  remove+=("$data" "$settings" "$HOME/.heddle")
else
  keep+=("$data|runs and everything measured; --all removes it")
  keep+=("$settings|settings and targets; --all removes it")
  keep+=("$HOME/.heddle|run directories, with checkpoints, and engines; --all removes it")
fi
keep+=("$HEDDLE_ROOT|this checkout")
keep+=("${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}|compiler cache, which other projects may use; ccache --clear empties it")
keep+=("/etc/systemd/system/ssh.service|keeps the sshd that came for the tests off")

# The list of packages is in the cache that is about to go.
installed=()
[[ -f $HEDDLE_INSTALLED ]] && mapfile -t installed < <(sort -u "$HEDDLE_INSTALLED")

found=()
for path in "${remove[@]}"; do
  [[ -e $path ]] && found+=("$path")
done
if ((${#found[@]})); then
  say "to be removed:"
  du -sh -- "${found[@]}" >&2
  if ((ask)); then
    [[ -t 0 ]] || fail 2 "nobody to ask here; say --yes"
    read -r -p "heddle: remove these? [y/N] " answer
    [[ $answer == [yY]* ]] || fail 1 "nothing was removed"
  fi
  rm -rf -- "${found[@]}"
  say "removed"
else
  say "nothing to remove"
fi

say "what stays:"
for line in "${keep[@]}"; do
  path=${line%%|*}
  if [[ -e $path || -L $path ]]; then
    printf '  %s: %s\n' "$path" "${line#*|}" >&2
  fi
done
if ((${#installed[@]})); then
  printf '  Debian packages that Heddle installed; to remove them, as root:\n    apt-get purge --autoremove %s\n' \
    "${installed[*]}" >&2
fi
