#include "remote/probe.h"

#include "base/clock.h"
#include "remote/prelude.h"

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

/// The probe's facts of the folder for inputs. No program is there.
Result<> add_data_root(probe::Report& report, Node& node, const Target& target) {
  const Result<probe::Report> data = probe_node(node, target.data_root, "data");
  if (!data) return fail(data);
  for (probe::Check check : data->checks) {
    const bool disk = check.name == "free disk" || check.name == "quota";
    if (!disk && check.name != "free inodes") continue;
    check.name = check.name == "quota" ? "data quota" : disk ? "data disk" : "data inodes";
    for (auto at = check.advice.find("--root"); at != std::string::npos;
         at = check.advice.find("--root", at + 1))
      check.advice.replace(at, 6, "--data-root");
    report.checks.push_back(std::move(check));
  }
  return {};
}

}  // namespace

Result<probe::Report> probe_node(Node& node, const std::string& root, const std::string& use) {
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  Command command;
  command.argv = {"/bin/sh", "-c", probe::script(), "probe", *folder, use};
  const double asked = unix_now();
  const Result<std::string> output = node.run_checked(command);
  if (!output) return fail(output);
  Result<probe::Report> report = probe::judge(*output, asked, unix_now());
  if (!report) return fail("{}: {}", node.name(), report.error().message);
  if (!node.is_this_machine()) report->checks.push_back(login_shell(node.greeting()));
  return report;
}

Result<probe::Report> probe_for(Node& node, const Target& target) {
  Result<probe::Report> report = probe_node(node, target.root);
  if (!report) return report;
  if (!target.data_root.empty())
    if (const Result<> added = add_data_root(*report, node, target); !added) return fail(added);
  auto checks = check_start(node, target);
  if (!checks) return fail(checks);
  for (probe::Check& check : *checks) report->checks.push_back(std::move(check));
  return report;
}

}  // namespace heddle::remote
