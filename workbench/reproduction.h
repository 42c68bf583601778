// Launching a run again exactly as it was: recipe, seeds, mode and target; and what is not the same
// any more. Blocks: reads the data's files and asks the target.
#pragma once

#include <string>
#include <vector>

#include "storage/queries.h"
#include "workbench/launch.h"
#include "workbench/target_now.h"

namespace heddle::workbench {

// The environment that each launch records, next to what its ranks report.
inline constexpr const char* kInputs = "inputs";             // hash of all files that are read
inline constexpr const char* kEngineBuild = "engine_build";  // hash of the engine
inline constexpr const char* kMachine = "machine";           // hosts in words
inline constexpr const char* kFingerprint = "fingerprint";   // hash of engine and hosts

/// The recipe's values as they would be recorded now. A hash that cannot be made is left out.
storage::Values environment_of(const recipe::Recipe& recipe, const TargetNow& target,
                               const remote::Progress& hashing);

struct Reproduction {
  LaunchRequest request;
  /// "data: …", a sentence each; empty: everything that the run recorded is the same.
  std::vector<std::string> differences;
  std::vector<std::string> same;  // what was compared and is as it was: "data", "engine 0.1.0"
};

/// A run that continued from another's checkpoint does so again. Fails if that checkpoint is gone,
/// or if the run was made elsewhere.
Result<Reproduction> plan_reproduction(storage::Reader& reader, const storage::RunDetail& run);

}  // namespace heddle::workbench
