// Where a run keeps its checkpoints: the one answer to it.
#pragma once

#include <string>

#include "engine/recipe/recipe.h"

namespace heddle::runs {

/// The folder of a run's checkpoints on the host of its run directory; empty: it keeps none, either
/// because its recipe says so or because there is no run directory.
inline std::string checkpoint_folder(const recipe::Checkpoint& checkpoint,
                                     const std::string& run_dir) {
  if (!checkpoint.enabled) return {};
  if (!checkpoint.folder.empty()) return checkpoint.folder;
  return run_dir.empty() ? "" : run_dir + "/checkpoints";
}

}  // namespace heddle::runs
