#include <fmt/format.h>

#include <filesystem>

#include "engine/commands/commands.h"
#include "engine/commands/refuse.h"
#include "engine/inputs/inputs.h"
#include "engine/recipe/fault_lines.h"
#include "engine/runs/checkpoint_folder.h"

namespace heddle::commands {
namespace {

std::string absolute(const std::string& path) {
  return path.empty() ? path : std::filesystem::absolute(path).string();
}

}  // namespace

int train(const RecipeOptions& options, launch::TrainOptions launch) {
  if (!launch.graph_file.empty() && launch.mode == "eager")
    return refuse(fmt::format(
        "--graph: {}: the eager mode runs the model and reads no graph; valid: --mode planned",
        launch.graph_file));
  std::vector<std::string> sets = options.sets;
  // An evaluation neither validates nor saves.
  if (!launch.eval_to.empty())
    sets.insert(sets.end(), {"validation.every=0", "checkpoint.enabled=false"});
  const auto inputs = inputs::read_inputs(options.path, options.ranks, true, sets);
  if (!inputs) return refuse(inputs.error().message);
  recipe::Recipe recipe = inputs->recipe;
  launch.keeps_checkpoints = !runs::checkpoint_folder(recipe.checkpoint, launch.run_dir).empty();
  recipe.checkpoint.enabled = launch.keeps_checkpoints;
  if (!launch.eval_to.empty() && recipe.micro_batches() != 1)
    return refuse(fmt::format(
        "{}: eval takes the whole first batch at once, and this recipe cuts it into {} "
        "micro-batches; valid: training.global_batch = {} (local_batch times {} ranks of data), "
        "parallelism.microbatches = 1",
        options.path, recipe.micro_batches(),
        recipe.training.local_batch * recipe.data_parallel_ranks(), recipe.data_parallel_ranks()));
  launch.recipe_text = recipe::to_toml(recipe);
  launch.steps = recipe.training.steps;
  launch.ranks = static_cast<int32_t>(recipe.hardware.ranks);
  launch.run_dir = absolute(launch.run_dir);
  launch.graph_file = absolute(launch.graph_file);
  launch.eval_to = absolute(launch.eval_to);
  return launch::run_foreground(launch);
}

int log(launch::LogOptions options) {
  // A run directory made elsewhere may hold a recipe that is not read here: then no line says how
  // far the run is.
  const recipe::Parsed parsed = recipe::parse_file(options.run_dir + "/recipe.toml");
  if (parsed.ok()) options.steps = parsed.recipe.training.steps;
  return launch::print_log(options);
}

}  // namespace heddle::commands
