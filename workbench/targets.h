// Targets as the store keeps them. `this-machine` is always there and never stored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/probe/report.h"
#include "remote/target.h"
#include "storage/queries.h"
#include "storage/writer.h"

namespace heddle::workbench {

struct SavedTarget {
  remote::Target target;
  std::optional<probe::Report> probe;  // of its first host, when it was probed
};

/// This machine first, then by name.
Result<std::vector<SavedTarget>> targets(storage::Reader& reader);

/// The error names the targets that there are.
Result<SavedTarget> find_target(storage::Reader& reader, const std::string& name);

/// A run's target with the keys that a person has accepted for its hosts since the launch, and the
/// spares that it has by now.
remote::Target with_keys_and_spares_of_now(storage::Reader& reader, remote::Target target);

/// Adds or replaces; refuses the name `this-machine` and what remote::check refuses.
Result<> save_target(storage::Writer& writer, const SavedTarget& target);

/// Connects to each host and probes it; the first report is saved with the target.
Result<std::vector<probe::Report>> probe_target(storage::Writer& writer,
                                                const remote::Target& target);

}  // namespace heddle::workbench
