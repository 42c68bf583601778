// Where a run lives: what the store keeps in a run's `hosts` column, enough to find the run again
// from any workbench that opens the store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/process_id.h"
#include "base/result.h"
#include "remote/target.h"

namespace heddle::workbench {

/// One host's part of a run; `target.host_of` its index is the host itself. The store keeps
/// names, not paths: under the root that its target has, a row can make Heddle run and delete
/// nothing but engines and run directories. Who trusts a store trusts the roots of its targets.
struct Share {
  std::string root;       // the target's, absolute on the host
  std::string folder;     // of this part, in the root's `runs`
  std::string engine_id;  // in the root's `engines`; empty: this machine's own engine
  int32_t first_rank = 0;
  int32_t local_ranks = 1;

  /// Both absolute on the host.
  std::string run_dir() const;
  std::string engine() const;
  bool operator==(const Share&) const = default;
};

struct Place {
  remote::Target target;
  std::vector<Share> shares;  // empty until they are known, and of an imported run
  int32_t epoch = 0;
  std::string end_key;  // what its ends are signed with (launch/end_proof.h); empty: of an import,
                        // or of a Heddle that had none: no end of it is believed
  /// The process that launches or imports: while it lives, a run that is still preparing is its
  /// business.
  ProcessId launcher;
  std::string launcher_boot_id;
};

/// A place that this process is about to fill.
Place place_on(const remote::Target& target);

std::string to_json(const Place& place);
Result<Place> place_from_json(const std::string& text);

/// Whether the process that launches is still there.
bool launcher_lives(const Place& place);

}  // namespace heddle::workbench
