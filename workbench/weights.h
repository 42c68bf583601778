// A run's weights, for other programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "storage/run.h"

namespace heddle::workbench {

/// The folder of the run's newest checkpoint, or why its weights cannot be exported.
Result<std::string> newest_weights(const storage::RunDetail& run);

struct ExportedWeights {
  std::string folder;
  std::vector<std::string> notes;  // what it lacks, and why
};

/// The run's newest checkpoint as a Hugging Face folder in `folder`: RUN-step-N, which must not be
/// there yet, with tokenizer and settings (data::export_model). The run must be of this machine and
/// keep checkpoints. Blocks while it writes.
Result<ExportedWeights> export_weights(const storage::RunDetail& run, const std::string& folder);

}  // namespace heddle::workbench
