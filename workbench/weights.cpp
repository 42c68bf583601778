#include "workbench/weights.h"

#include <filesystem>

#include "engine/checkpoint/step_folders.h"
#include "engine/data/export_model.h"
#include "engine/recipe/parse.h"
#include "workbench/backend.h"
#include "workbench/checkpoints.h"
#include "workbench/place.h"

namespace heddle::workbench {

Result<std::string> newest_weights(const storage::RunDetail& run) {
  const std::string& name = run.summary.name;
  const recipe::Checkpoint saves = recipe::parse(run.recipe, "recipe").recipe.checkpoint;
  if (!saves.enabled)
    return fail("{} keeps no checkpoints: its recipe has checkpoint.enabled = false", name);
  const Result<Place> place = place_from_json(run.hosts);
  if (!place) return fail("{}: {}", name, place.error().message);
  const std::string run_dir = place->shares.empty() ? run.run_dir : place->shares[0].run_dir();
  const std::string at = checkpoint_folder(saves, place->target, run_dir);
  if (!backend_of(place->target).has_our_files())
    return fail(
        "{}: its checkpoints are on {}; there, `heddle-engine convert {}/step-N OUT` makes the "
        "folder",
        name, place->target.hosts[0].name, at);
  const std::vector<std::string> checkpoints = checkpoint::checkpoints_in(at);
  if (checkpoints.empty()) return fail("{}: there is no checkpoint in {} yet", name, at);
  return at + '/' + checkpoints.front();
}

Result<ExportedWeights> export_weights(const storage::RunDetail& run, const std::string& folder) {
  const Result<std::string> checkpoint = newest_weights(run);
  if (!checkpoint) return fail(checkpoint);
  const std::string step = std::filesystem::path(*checkpoint).filename();
  std::string to = folder + '/' + run.summary.name + '-' + step;
  const auto notes = data::export_model(*checkpoint, to);
  if (!notes) return fail(notes);
  return ExportedWeights{std::move(to), *notes};
}

}  // namespace heddle::workbench
