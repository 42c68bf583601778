// A target as pages show it: what a probe found, whether it is reached, and the word and tone for
// that.
#pragma once

#include <QString>
#include <map>
#include <optional>
#include <string>

#include "engine/probe/report.h"
#include "gui/theme/icons.h"
#include "remote/target.h"
#include "storage/queries.h"
#include "workbench/cluster_now.h"

namespace heddle::gui {

/// A target with all that is known of it.
struct TargetEntry {
  remote::Target target;
  bool offered = false;  // a host of ~/.ssh/config, not added yet
  std::optional<probe::Report> report;
  std::optional<workbench::ClusterNow> cluster;  // of this session's last probe
  QString error;                                 // the last attempt to connect failed: why
  QString lost;       // a run there goes on, and its connection is lost: why
  bool busy = false;  // being connected to

  QString name() const { return QString::fromStdString(target.name); }
  /// The probe's findings may no longer hold.
  bool isOutOfReach() const { return !error.isEmpty() || !lost.isEmpty(); }
  bool isThisMachine() const { return target.name == remote::kThisMachine; }
};

/// "ada@hgx-07.lab through gate.lab"; "this computer" for this machine.
QString addressOf(const TargetEntry& entry);
/// "16 cores, 62.6 GiB" or what else is known.
QString equipmentOf(const TargetEntry& entry);
/// A word for its state, and how it looks.
struct TargetState {
  QString text;
  Tone tone = Tone::muted;
  bool known = false;  // it has been probed
};
TargetState stateOf(const TargetEntry& entry);

/// Targets whose connection to a run is lost, by name: which run's, and why.
using LostTargets = std::map<std::string, std::string>;
Result<LostTargets> lostTargets(storage::Reader& reader);

}  // namespace heddle::gui
