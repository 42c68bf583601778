#include "workbench/backends/supervisor.h"

#include "base/excerpt.h"
#include "base/read_json.h"
#include "remote/prelude.h"
#include "remote/start_script.h"

namespace heddle::workbench {

namespace {

// $1: the size of launch.json, which comes first on stdin; $2: its place; $3, …: the supervisor.
constexpr const char* kStart = R"sh(
umask 077
head -c "$1" > "$2.part" && mv -f -- "$2.part" "$2" || exit 1
shift 2
exec "$@")sh";

Result<runs::Status> run_supervise(remote::Node& node, const Share& share,
                                   std::vector<std::string> words, const std::string& option,
                                   const std::string& input) {
  words.insert(words.end(), {"supervise", "--run-dir", share.run_dir()});
  remote::Command command{
      .argv = std::move(words), .input = input, .deadline = std::chrono::seconds(60)};
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
                                      const std::string& launch, const Secret& secret,
                                      bool by_script) {
  std::vector<std::string> words{"/bin/sh",
                                 "-c",
                                 kStart,
                                 "sh",
                                 std::to_string(launch.size()),
                                 share.run_dir() + "/launch.json"};
  if (by_script)
    words.insert(words.end(), {"/bin/sh", share.run_dir() + "/" + remote::kStartScript});
  else
    words.push_back(share.engine());
  Result<runs::Status> status =
      run_supervise(node, share, std::move(words), "--secret-stdin", launch + secret.hex() + "\n");
  if (status || !by_script) return status;
  const Result<std::string> fault = remote::prelude_fault(node, share.run_dir());
  if (fault && !fault->empty()) return fail("{}: {}", node.name(), *fault);
  return status;
}

Result<runs::Status> ask_supervisor(remote::Node& node, const Share& share,
                                    const std::string& option) {
  return run_supervise(node, share, {share.engine()}, option, "");
}

}  // namespace heddle::workbench
