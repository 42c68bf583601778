// `heddle-engine graph`: the recipe is read here, the step captured with LibTorch.
#include <fmt/format.h>

#include <filesystem>

#include "engine/checkpoint/load_recipe.h"
#include "engine/commands/commands.h"
#include "engine/commands/refuse.h"
#include "engine/commands/torch_library.h"
#include "engine/data/text_loader.h"
#include "engine/passes/pass_names.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::commands {

std::vector<std::string> graph_stages() {
  std::vector<std::string> stages = {"capture"};
  stages.insert(stages.end(), passes::kPassNames.begin(), passes::kPassNames.end());
  return stages;
}

int graph(const RecipeOptions& options, const GraphOptions& what) {
  recipe::Parsed parsed = checkpoint::load_recipe_file(options.path, options.sets, options.ranks);
  if (!parsed.ok()) return refuse(recipe::lines_of(parsed.faults));
  if (parsed.recipe.model.vocab_size == 0) {
    const auto vocabulary = data::vocabulary(parsed.recipe.model, parsed.recipe.data);
    if (!vocabulary) return refuse(fmt::format("{}: {}", options.path, vocabulary.error().message));
    parsed.recipe.model.vocab_size = *vocabulary;
  }
  const std::string file = std::filesystem::path(options.path).filename().string();
  return with_torch(
      [&](const TorchCommands& torch) { return torch.graph(parsed.recipe, file, what); });
}

}  // namespace heddle::commands
