#include "remote/private_root.h"

#include "base/excerpt.h"
#include "remote/path_check.h"

namespace heddle::remote {
namespace {

constexpr int kForeign = 66;

// $1, …: the folders. Prints "PATH", "OWNER" and "MODE" of what is wrong.
constexpr const char* kRootLook = R"sh(
umask 077
for folder; do
  mkdir -p -- "$folder" || exit 1
  walk "$folder"
done)sh";

}  // namespace

Result<> make_private_root(Node& node, const std::string& root,
                           const std::vector<std::string>& folders) {
  Command look;
  look.argv = {"/bin/sh", "-c", kPathCheck + std::string(kRootLook), "sh", root};
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
