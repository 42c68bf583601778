#include "remote/private_root.h"

#include "base/excerpt.h"

namespace heddle::remote {
namespace {

constexpr int kForeign = 66;

// $1, …: the folders. Each is walked to as the system does, one name and one link at a time: what
// is looked up in a folder is its owner's, and of all who can write to it. Where only owners can
// rename what is theirs (sticky, as /tmp), others may write. Prints "PATH", "OWNER" and "MODE" of
// what is wrong.
constexpr const char* kLook = R"sh(
umask 077
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
for folder; do
  mkdir -p -- "$folder" || exit 1
  walk "$folder"
done)sh";

}  // namespace

Result<> make_private_root(Node& node, const std::string& root,
                           const std::vector<std::string>& folders) {
  Command look;
  look.argv = {"/bin/sh", "-c", kLook, "sh", root};
  for (const std::string& folder : folders) look.argv.push_back(root + "/" + folder);
  const Result<Completed> looked = node.run(look);
  if (!looked) return fail(looked);
  if (looked->exit_code == 0) return {};
  if (looked->exit_code != kForeign) {
    return fail("{}: cannot make the folder {}: {}", node.name(), root, excerpt(looked->err));
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
