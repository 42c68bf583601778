#include "remote/node_libraries.h"

#include <sstream>

#include "engine/probe/report.h"
#include "remote/path_check.h"

namespace heddle::remote {
namespace {

// $1: "size" or "content"; then "NAME SIZE SHA256" of each file. Prints "NAME<TAB>PATH".
constexpr const char* kFind = R"sh(
likeness=$1
shift
found=' '
while read -r folder; do
  for file; do
    name=${file%% *}
    sum=${file##* }
    size=${file#* }
    size=${size%% *}
    case $found in *" $name "*) continue ;; esac
    [ -f "$folder/$name" ] || continue
    path=$(readlink -f -- "$folder/$name") || continue
    [ "$(stat -c %s -- "$path")" = "$size" ] || continue
    (walk "$path") > /dev/null 2>&1 || continue
    [ "$likeness" = size ] || [ "$(sha256sum < "$path")" = "$sum  -" ] || continue
    found="$found$name "
    printf '%s\t%s\n' "$name" "$path"
  done
done << END
$(cuda_folders)
END
)sh";

}  // namespace

Result<std::map<std::string, std::string>> node_libraries(Node& node,
                                                          const std::vector<BundleFile>& files,
                                                          Likeness likeness) {
  Command find;
  find.argv = {"/bin/sh", "-c",
               "LC_ALL=C; export LC_ALL\n" + probe::cuda_folders() + kPathCheck + kFind, "sh",
               likeness == Likeness::size ? "size" : "content"};
  find.deadline = std::chrono::minutes(5);   // gigabytes to read, from a disk of a network perhaps
  std::map<std::string, std::string> paths;  // by name
  for (const BundleFile& file : files) {
    if (!file.nodes_may_have) continue;
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    find.argv.push_back(fmt::format("{} {} {}", name, file.size, file.sha256));
    paths[name] = file.path;
  }
  std::map<std::string, std::string> found;
  if (paths.empty()) return found;
  const Result<std::string> said = node.run_checked(find);
  if (!said) return fail(said);
  std::istringstream lines(*said);
  for (std::string line; std::getline(lines, line);) {
    const size_t tab = line.find('\t');
    const auto path = paths.find(line.substr(0, tab));
    if (tab == std::string::npos || path == paths.end() || line[tab + 1] != '/') continue;
    found[path->second] = line.substr(tab + 1);
  }
  return found;
}

}  // namespace heddle::remote
