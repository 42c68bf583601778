#include "remote/node.h"

#include "base/excerpt.h"
#include "remote/target.h"

namespace heddle::remote {

Result<std::string> Node::read(const std::string& path, uint64_t offset, uint64_t max_bytes) {
  auto pieces = read({Range{path, offset, max_bytes}});
  if (!pieces) return fail(pieces);
  if (!pieces->front()) return fail("{}: no file {}", name(), path);
  return std::move(*pieces->front());
}

Result<std::string> Node::run_checked(const Command& command) {
  Result<Completed> completed = run(command);
  if (!completed) return fail(completed);
  if (completed->exit_code != 0) {
    const std::string said = excerpt(completed->err.empty() ? completed->out : completed->err);
    return fail("{}: {} ended with exit code {}: {}", name(), command.argv.front(),
                completed->exit_code, said.empty() ? "it said nothing" : said);
  }
  return std::move(completed->out);
}

Result<std::string> Node::expand(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) {
    if (path.starts_with('/')) return tidy_folder(path);
    return fail("{}: \"{}\" is not an absolute path: write /… or ~/…", name(), path);
  }
  Result<std::string> folder = home();
  if (!folder) return folder;
  return tidy_folder(*folder + path.substr(1));
}

}  // namespace heddle::remote
