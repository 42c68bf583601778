#include "engine/inputs/resumable.h"

#include <string>

#include "engine/checkpoint/reader.h"
#include "engine/checkpoint/step_folders.h"

namespace heddle::inputs {

Result<> check_resumable(const recipe::Recipe& recipe) {
  const std::string& folder = recipe.checkpoint.folder;
  for (const std::string& name : checkpoint::checkpoints_in(folder)) {
    const auto newest = checkpoint::Checkpoint::open(folder + "/" + name);
    if (!newest) continue;
    if (auto fits = newest->check_resumable(recipe); !fits)
      return fail("checkpoint.folder: {}", fits.error().message);
    return {};
  }
  return {};
}

}  // namespace heddle::inputs
