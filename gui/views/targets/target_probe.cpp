#include "gui/views/targets/target_probe.h"

#include "workbench/backend.h"
#include "workbench/target_now.h"

namespace heddle::gui {

ProbeOutcome probeTarget(workbench::Workbench& workbench, const workbench::SavedTarget& known,
                         const std::string& before) {
  const remote::Target& target = known.target;
  ProbeOutcome outcome;
  outcome.target = target;
  auto nodes = workbench::connect_all(target);
  if (!nodes) outcome.refused = std::move(nodes.error());
  // A spare may be down; its key is asked for now, while a person is here.
  for (const remote::Host& spare : target.spares) {
    if (outcome.refused) break;
    auto node = remote::connect(target, spare);
    if (!node && node.error().is_about_host_key()) outcome.refused = std::move(node.error());
  }
  const bool distrusted = outcome.refused && outcome.refused->is_about_host_key();
  // Keeps a host that is down now, which can be probed later; does not keep an untrusted one.
  if (!distrusted) {
    auto saved = workbench::save_target(workbench.writer(), known);
    if (saved && !before.empty() && before != target.name)
      saved = workbench.writer().remove_target(before).get();
    if (!saved) outcome.error = saved.error().message;
  }
  if (outcome.refused || !outcome.error.empty()) return outcome;
  auto reports = workbench::probe_target(workbench.writer(), target);
  if (!reports) {
    outcome.error = reports.error().message;
    return outcome;
  }
  outcome.reports = std::move(*reports);
  // A cluster whose Slurm does not answer has said so in its report.
  if (auto cluster = workbench::backend_of(target).cluster(target, *nodes->front()))
    outcome.cluster = std::move(*cluster);
  return outcome;
}

ProbeOutcome probeThisMachine() {
  ProbeOutcome outcome;
  outcome.target = remote::this_machine();
  auto report = probe::probe_this_machine();
  if (report)
    outcome.reports.push_back(std::move(*report));
  else
    outcome.error = report.error().message;
  return outcome;
}

}  // namespace heddle::gui
