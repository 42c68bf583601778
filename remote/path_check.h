// A check by a node's shell: who could put something in a path's place.
#pragma once

namespace heddle::remote {

// `walk PATH` goes there as the system does, one name and one link at a time: what is looked up in
// a folder is its owner's, and of all who can write to it. Where only owners can rename what is
// theirs (sticky, as /tmp), others may write. It leaves the shell with 66, having printed "PATH",
// "OWNER" and "MODE" (a line each), at what belongs to someone who is neither the user nor root
// (with its owner), or that others can write to (without).
inline constexpr const char* kPathCheck = R"sh(
me=$(id -u)
wrong() {
  printf '%s\n%s\n%s\n' "$1" "$2" "$3"
  exit 66
}
whose() {  # a folder or a link
  about=$(stat -c '%u %U %a' -- "$1") || exit 1
  id=${about%% *}
  mode=${about##* }
  owner=${about#* }
  owner=${owner% *}
  [ "$id" = 0 ] || [ "$id" = "$me" ] || wrong "$1" "$owner" "$mode"
}
look() {
  whose "$1"
  case $mode in
    [1357]???) [ "$2" = above ] && return ;;
  esac
  case $mode in
    *[2367]? | *[2367]) wrong "$1" "" "$mode" ;;
  esac
}
walk() {
  here=
  rest=${1#/}/
  links=0
  look / above
  while [ -n "$rest" ]; do
    name=${rest%%/*}
    rest=${rest#*/}
    case $name in
      '' | .) continue ;;
      ..)
        here=${here%/*}
        continue
        ;;
    esac
    if [ ! -L "$here/$name" ]; then
      here=$here/$name
      look "$here" above
      continue
    fi
    whose "$here/$name"
    links=$((links + 1))
    if [ "$links" -gt 40 ]; then
      echo "too many links on the way to $1" >&2
      exit 1
    fi
    to=$(readlink -- "$here/$name") || exit 1
    rest=$to/$rest
    case $to in /*) here= ;; esac
  done
  look "${here:-/}" itself
}
)sh";

}  // namespace heddle::remote
