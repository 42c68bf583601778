#include "remote/probe.h"

#include "base/clock.h"

namespace heddle::remote {
namespace {

/// Every operation on a host starts one: a launch has dozens.
probe::Check login_shell(const Greeting& greeting) {
  constexpr double kSlow = 2;
  const double seconds = std::chrono::duration<double>(greeting.shell_start).count();
  probe::Check check{.name = "login shell",
                     .status = seconds < kSlow ? probe::Status::pass : probe::Status::warn,
                     .value = fmt::format("starts in {:.{}f} s", seconds, seconds < kSlow ? 2 : 1),
                     .advice = {}};
  if (check.status == probe::Status::warn)
    check.advice = fmt::format(
        "each operation there takes {:.0f} s and a launch many of them: begin ~/.bashrc with "
        "`[ -t 0 ] || return`, so that conda and modules load in terminals only",
        seconds);
  return check;
}

}  // namespace

Result<probe::Report> probe_node(Node& node, const std::string& root) {
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  Command command;
  command.argv = {"/bin/sh", "-c", probe::script(), "probe", *folder};
  const double asked = unix_now();
  const Result<std::string> output = node.run_checked(command);
  if (!output) return fail(output);
  Result<probe::Report> report = probe::judge(*output, asked, unix_now());
  if (!report) return fail("{}: {}", node.name(), report.error().message);
  if (!node.is_this_machine()) report->checks.push_back(login_shell(node.greeting()));
  return report;
}

}  // namespace heddle::remote
