#include "remote/probe.h"

namespace heddle::remote {

Result<probe::Report> probe_node(Node& node, const std::string& root) {
  const Result<std::string> folder = node.expand(root);
  if (!folder) return fail(folder);
  Command command;
  command.argv = {"/bin/sh", "-c", probe::script(), "probe", *folder};
  const double asked = probe::now();
  const Result<std::string> output = node.run_checked(command);
  if (!output) return fail(output);
  Result<probe::Report> report = probe::judge(*output, asked, probe::now());
  if (!report) return fail("{}: {}", node.name(), report.error().message);
  return report;
}

}  // namespace heddle::remote
