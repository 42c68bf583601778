#include "workbench/backends/supervisor.h"

#include "base/excerpt.h"
#include "base/read_json.h"

namespace heddle::workbench {

namespace {

Result<runs::Status> run_supervise(remote::Node& node, const Share& share,
                                   const std::string& option, const std::string& input) {
  remote::Command command{.argv = {share.engine(), "supervise", "--run-dir", share.run_dir()},
                          .input = input,
                          .deadline = std::chrono::seconds(60)};
  if (!option.empty()) command.argv.push_back(option);
  const Result<remote::Completed> completed = node.run(command);
  if (!completed) return fail(completed);
  if (completed->exit_code != 0) {
    std::string words = excerpt(completed->err);
    while (!words.empty() && words.back() == '\n') words.pop_back();
    return fail("{}: the supervisor of {} cannot be asked: {}", node.name(), share.run_dir(),
                words.empty() ? fmt::format("exit code {}", completed->exit_code) : words);
  }
  const auto json = read_json(completed->out, runs::kRunFile);
  if (!json || !json->is_object()) {
    return fail("{}: the supervisor of {} answered \"{}\"", node.name(), share.run_dir(),
                excerpt(completed->out));
  }
  return runs::status_from_json(*json);
}

}  // namespace

Result<runs::Status> start_supervisor(remote::Node& node, const Share& share,
                                      const Secret& secret) {
  return run_supervise(node, share, "--secret-stdin", secret.hex() + "\n");
}

Result<runs::Status> ask_supervisor(remote::Node& node, const Share& share,
                                    const std::string& option) {
  return run_supervise(node, share, option, "");
}

}  // namespace heddle::workbench
