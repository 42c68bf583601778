#!/usr/bin/env bash
# Shows in bare Debians, which have neither this checkout nor LibTorch nor Qt, what is made for other machines:
#   packaging/other-debians.sh [--roots DIR] [--pictures DIR] [portable] [hosts] [deb]          default: all three
# portable: the archive of portable.sh opens its window and trains on Debian 11, 12 and 13, without a network.
# hosts: the engine is brought over SSH to Debian 11 and 13 and trains there, to this machine's loss bit for bit.
# deb: the package of deb.sh installs, opens its window, trains and uninstalls without rest on Debian 12.
# Needs root, debootstrap, Xvfb, xwininfo and import; TMPDIR needs 5 GB. DIR keeps the bare Debians for the next time, or
# a picture of each window.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
source "$here/lib/common.sh"
source "$here/lib/build.sh"
source "$here/lib/chroot.sh"
source "$here/lib/display.sh"

roots='' pictures='' parts=()
while (($#)); do
  case $1 in
    --roots | --pictures)
      [[ -d ${2:-} ]] || fail 2 "$1: ${2:-} is no folder"
      printf -v "${1#--}" %s "$(realpath "$2")"
      shift
      ;;
    portable | hosts | deb) parts+=("$1") ;;
    *) fail 2 "$1: unknown; valid: --roots DIR, --pictures DIR, portable, hosts, deb" ;;
  esac
  shift
done
((${#parts[@]})) || parts=(portable hosts deb)
need_chroots other-debians.sh
for program in Xvfb xwininfo import ssh-keygen; do
  command -v "$program" >/dev/null ||
    fail 2 "$program is missing: apt-get install xvfb x11-utils imagemagick openssh-client"
done

work=$(mktemp -d "${TMPDIR:-/tmp}/heddle-debians.XXXXXX")
root=$work/root # the Debian in use
started=()      # processes
clean_up() {
  disown -a # no word about each that is killed
  ((${#started[@]})) && kill -KILL "${started[@]}" 2>/dev/null
  wait
  remove_chroot "$root"
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# debian SUITE [PACKAGES]: $root becomes a fresh copy of a minimal Debian with a user ann.
debian() {
  local suite=$1 kept=${roots:-$work}/$1${2:+-$2}
  if [[ ! -d $kept ]]; then
    make_debian "$suite" "$kept.part" "${2:-}"
    mv "$kept.part" "$kept"
  fi
  remove_chroot "$root"
  cp -a "$kept" "$root"
  mount_chroot "$root"
  mkdir -p "$root/tmp/.X11-unix"
  mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
  chroot "$root" useradd --create-home --shell /bin/sh ann
  local foreign
  foreign=$(find "$root" -xdev \( -name 'libtorch*' -o -name 'libQt6*' -o -path "$root$HEDDLE_ROOT" \) -print -quit)
  [[ -z $foreign ]] || fail 1 "$suite is not bare: $foreign"
  say "$suite: glibc $(chroot "$root" getconf GNU_LIBC_VERSION | cut -d' ' -f2)"
}

# inside USER COMMAND...: in $root, with processes and a network of its own, of which only loopback is up. The shell is
# the first process, which takes care of orphans; all that it starts ends with it.
inside() {
  local user=$1 home=/root
  [[ $user == root ]] || home=/home/$user
  shift
  # shellcheck disable=SC2016
  exec unshare --mount --net --pid --fork --kill-child sh -c '
    root=$1; shift
    mount -t proc proc "$root/proc" && ip link set lo up && chroot "$@"
    code=$?
    exit "$code"' sh "$root" \
    --userspec="$user" "$root" env -i HOME="$home" USER="$user" DISPLAY="$DISPLAY" LANG=en_GB.UTF-8 \
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin "$@" </dev/null
}

# Files that a process of the Debian runs code from, as they are named there.
code_of() { awk '$2 ~ /x/ && $6 ~ "^/" { $1 = $2 = $3 = $4 = $5 = ""; print substr($0, 6) }' "/proc/$1/maps" | sort -u; }

# process_named TEXT: one inside, by its command line, from outside.
process_named() {
  local pid
  for pid in $(pgrep -f -- "$1"); do
    [[ $(readlink "/proc/$pid/root") == "$root" ]] && echo "$pid" && return
  done
  return 1
}

# open_window NAME PROGRAM FOLDER: its window opens, and all code that it runs is in FOLDER (empty: not looked at).
open_window() {
  local name=$1 program=$2 folder=$3 window pid foreign
  (inside ann "$program") 2>"$work/window.log" &
  window=$!
  started+=("$window")
  wait_for_window Heddle "$window" || fail 1 "$name: no window: $(tail -n 5 "$work/window.log")"
  sleep 3 # for the picture: charts load
  if [[ -n $folder ]]; then
    pid=$(process_named "bin/heddle") || fail 1 "$name: the window's process is gone"
    foreign=$(code_of "$pid" | grep -vF "$root$folder" || true)
    [[ -z $foreign ]] || fail 1 "$name: the window runs code from outside: $foreign"
  fi
  [[ -z $pictures ]] || import -window root "$pictures/$name.png"
  kill -KILL "$window" # unshare ignores what asks
  wait "$window" 2>/dev/null || true
  say "$name: the window opens${folder:+, all of its code is its own}"
  [[ ! -s $work/window.log ]] || sed 's/^/  /' "$work/window.log" >&2
}

# demo NAME PROGRAM: two runs of the sample recipe, started, followed and compared.
demo() {
  (inside ann "$2" --demo) >"$work/demo.log" 2>&1 || fail 1 "$1: $(tail -n 5 "$work/demo.log")"
  say "$1: $(grep 'demo is done' "$work/demo.log")"
}

show_portable() {
  local suite top folder='/home/ann/any folder'
  "$here/portable.sh" "$work/heddle.tar.gz"
  top=$folder/heddle-$(version)
  for suite in bullseye bookworm trixie; do
    debian "$suite"
    chroot --userspec=ann "$root" mkdir "$folder"
    chroot --userspec=ann "$root" tar --extract --gzip --directory "$folder" <"$work/heddle.tar.gz"
    demo "portable-$suite" "$top/heddle"
    (inside ann "$top/heddle-engine" train "$top/share/heddle/recipes/debug.toml" --run-dir /home/ann/run) \
      >"$work/train.log" 2>&1 || fail 1 "portable-$suite: $(tail -n 5 "$work/train.log")"
    say "portable-$suite: heddle-engine train: last loss$(sed -n 's/.*"losses":\[[^]]*,\([0-9.]*\)\].*/ \1/p' "$work/train.log")"
    open_window "portable-$suite" "$top/heddle" "$top"
  done
}

# A home for `heddle` on this machine.
our_heddle() {
  HOME=$work/home XDG_CONFIG_HOME=$work/home/config XDG_DATA_HOME=$work/home/data "$HEDDLE_BUILD/bin/heddle" "$@"
}

loss_of() { our_heddle show "$1" --json | grep '"last_loss"'; }

show_hosts() {
  local suite port key here_loss there_loss recipe=$HEDDLE_ROOT/resources/recipes/debug.toml
  mkdir -p "$work/home/.ssh"
  chmod 700 "$work/home/.ssh"
  ssh-keygen -q -t ed25519 -N '' -f "$work/home/.ssh/id_ed25519"
  our_heddle launch "$recipe" --name here --wait >"$work/here.log" 2>&1 || fail 1 "$(tail -n 3 "$work/here.log")"
  here_loss=$(loss_of here)
  for suite in bullseye trixie; do
    debian "$suite" openssh-server
    mkdir -p "$root/root/.ssh" "$root/run/sshd"
    chmod 700 "$root/root/.ssh"
    cp "$work/home/.ssh/id_ed25519.pub" "$root/root/.ssh/authorized_keys"
    port=$((20000 + RANDOM))
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
      mount -t proc proc "$1/proc" && exec chroot "$1" /usr/sbin/sshd -D -e -p "$2" -o ListenAddress=127.0.0.1 \
        -o UsePAM=no' sh "$root" "$port" >"$work/sshd.log" 2>&1 &
    started+=($!)
    for ((try = 0; try < 40; try++)); do
      key=$(ssh-keyscan -t ed25519 -p "$port" 127.0.0.1 2>/dev/null | ssh-keygen -l -f - 2>/dev/null) && break
      sleep 0.25
    done
    key=$(cut -d' ' -f2 <<<"$key")
    our_heddle targets add "$suite" --host "root@127.0.0.1:$port" --accept-key "$key" |
      grep -E 'is added|glibc' >&2
    our_heddle launch "$recipe" --name "on-$suite" --on "$suite" >"$work/launch.log" 2>&1 ||
      fail 1 "$suite: $(tail -n 3 "$work/launch.log")"
    look_at_ranks "$suite"
    our_heddle tail "on-$suite" >"$work/tail.log" 2>&1 || fail 1 "$suite: $(tail -n 3 "$work/tail.log")"
    there_loss=$(loss_of "on-$suite")
    [[ -n $here_loss && $there_loss == "$here_loss" ]] ||
      fail 1 "$suite: loss $there_loss, on this machine $here_loss"
    say "$suite: trained over SSH to this machine's loss:${there_loss##*:}"
  done
}

# All code that a rank runs is in the root of the target.
look_at_ranks() {
  local pid foreign
  pid=$(process_named '--rank') || fail 1 "$1: no rank runs there"
  foreign=$(code_of "$pid" | grep -vF "$root/root/.heddle/" || true)
  [[ -z $foreign ]] || fail 1 "$1: a rank runs code from outside: $foreign"
  say "$1: a rank runs from $(code_of "$pid" | wc -l) files, all of them brought there"
}

show_deb() {
  local before after
  "$here/deb.sh" "$work/heddle.deb"
  debian bookworm
  copy_network_settings "$root"
  cp "$work/heddle.deb" "$root/root"
  # What the package needs comes first: what it leaves behind alone is looked for.
  local apt=(chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends)
  "${apt[@]}" update >"$work/apt.log" 2>&1 || fail 1 "apt-get update: $(tail -n 3 "$work/apt.log")"
  "${apt[@]}" install shared-mime-info desktop-file-utils hicolor-icon-theme >"$work/apt.log" 2>&1
  "${apt[@]}" install /root/heddle.deb >"$work/apt.log" 2>&1 || fail 1 "install: $(tail -n 5 "$work/apt.log")"
  demo deb heddle
  open_window deb heddle ''
  grep -qxF 'application/x-heddle-recipe:*.heddle.toml' "$root/usr/share/mime/globs" ||
    fail 1 "deb: the type of recipes is not known"
  grep -qF 'application/x-heddle-recipe=heddle.desktop' "$root/usr/share/applications/mimeinfo.cache" ||
    fail 1 "deb: nothing opens recipes"
  chroot "$root" desktop-file-validate /usr/share/applications/heddle.desktop || fail 1 "deb: the desktop file"
  chroot "$root" dpkg --listfiles heddle | sort >"$work/files"
  chroot "$root" dpkg --purge heddle >"$work/apt.log" 2>&1 || fail 1 "purge: $(tail -n 3 "$work/apt.log")"
  before=$(grep -c heddle "$work/files")
  after=$(find "$root"/{usr,etc,var,opt} -xdev -iname '*heddle*' -print)
  after+=$(grep -rls heddle "$root"/usr/share/{mime,applications} || true)
  [[ -z $after ]] || fail 1 "deb: left behind: ${after:0:500}"
  say "deb: $before files and folders installed, none left after purge"
}

[[ -x $HEDDLE_BUILD/bin/heddle ]] || fail 1 "nothing is built yet: run packaging/start.sh --demo"
start_display "$work"
started+=("$display_pid")
for part in "${parts[@]}"; do
  "show_$part"
done
say "all of it holds: ${parts[*]}"
