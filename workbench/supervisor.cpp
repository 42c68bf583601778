#include "workbench/supervisor.h"

#include <nlohmann/json.hpp>

namespace heddle::workbench {

namespace {

Result<launch::Status> run_supervise(remote::Node& node, const Share& share,
                                     const std::string& option, const std::string& input) {
  remote::Command command{.argv = {share.engine(), "supervise", "--run-dir", share.run_dir()},
                          .input = input,
                          .deadline = std::chrono::seconds(60)};
  if (!option.empty()) command.argv.push_back(option);
  const Result<remote::Completed> completed = node.run(command);
  if (!completed) return fail(completed);
  if (completed->exit_code != 0) {
    std::string words = completed->err;
    while (!words.empty() && words.back() == '\n') words.pop_back();
    return fail("{}: the supervisor of {} cannot be asked: {}", node.name(), share.run_dir(),
                words.empty() ? fmt::format("exit code {}", completed->exit_code) : words);
  }
  const auto json = nlohmann::json::parse(completed->out, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    return fail("{}: the supervisor of {} answered \"{}\"", node.name(), share.run_dir(),
                completed->out);
  }
  return launch::status_from_json(json);
}

}  // namespace

Result<launch::Status> start_supervisor(remote::Node& node, const Share& share,
                                        const Secret& secret) {
  return run_supervise(node, share, "--secret-stdin", secret.hex() + "\n");
}

Result<launch::Status> ask_supervisor(remote::Node& node, const Share& share,
                                      const std::string& option) {
  return run_supervise(node, share, option, "");
}

}  // namespace heddle::workbench
