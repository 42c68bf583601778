#include "remote/private_root.h"

namespace heddle::remote {
namespace {

constexpr int kForeign = 66;

// $1: the root. Looked at are the root, what is above it as it is written and as it is once links
// are followed, and the links. Where only owners can rename what is theirs (sticky, as /tmp),
// others may write. Prints "PATH", "OWNER" and "MODE" of what is wrong.
constexpr const char* kLook = R"sh(
umask 077
mkdir -p -- "$1" || exit 1
me=$(id -u)
wrong() {
  printf '%s\n%s\n%s\n' "$1" "$2" "$3"
  exit 66
}
look() {
  about=$(stat -L -c '%u %U %a' -- "$1") || exit 1
  id=${about%% *}
  mode=${about##* }
  owner=${about#* }
  owner=${owner% *}
  [ "$id" = 0 ] || [ "$id" = "$me" ] || wrong "$1" "$owner" "$mode"
  case $mode in
    [1357]???) [ "$2" = above ] || wrong "$1" "" "$mode" ;;
    *[2367]? | *[2367]) wrong "$1" "" "$mode" ;;
  esac
  if [ -L "$1" ]; then
    about=$(stat -c '%u %U' -- "$1") || exit 1
    id=${about%% *}
    [ "$id" = 0 ] || [ "$id" = "$me" ] || wrong "$1" "${about#* }" ""
  fi
}
climb() {
  path=$1
  look "$path" root
  while [ "$path" != / ]; do
    path=${path%/*}
    [ -n "$path" ] || path=/
    look "$path" above
  done
}
climb "${1%/}"
cd -- "$1" && climb "$(pwd -P)")sh";

}  // namespace

Result<> make_private_root(Node& node, const std::string& root) {
  Command look;
  look.argv = {"/bin/sh", "-c", kLook, "sh", root};
  const Result<Completed> looked = node.run(look);
  if (!looked) return fail(looked);
  if (looked->exit_code == 0) return {};
  if (looked->exit_code != kForeign) {
    return fail("{}: cannot make the folder {}: {}", node.name(), root, looked->err);
  }
  const size_t path_end = looked->out.find('\n');
  const std::string path = looked->out.substr(0, path_end);
  const std::string owner =
      looked->out.substr(path_end + 1, looked->out.find('\n', path_end + 1) - path_end - 1);
  if (!owner.empty()) {
    return fail(
        "{}: {} belongs to {}, who could put other programs and runs in the place of yours: give "
        "the target a root folder in a place of your own (heddle targets add … --root)",
        node.name(), path, owner);
  }
  return fail(
      "{}: others can write to {}, and could put other programs and runs in the place of yours: "
      "chmod go-w '{}' there, or give the target another root folder (heddle targets add … --root)",
      node.name(), path, path);
}

}  // namespace heddle::remote
