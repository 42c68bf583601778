// The commands that need LibTorch are in libheddle_torch.so, next to the engine. It is loaded when
// one of them runs: LibTorch takes a quarter of a second to load, which the other commands save.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/say.h"
#include "engine/commands/commands.h"
#include "engine/inputs/plan_recipes.h"
#include "engine/plan/answers.h"
#include "engine/plan/question.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"

namespace heddle::commands {

/// The library's functions, built by the same compiler from the same sources. Those that return an
/// int print all there is to print: it is the exit code.
struct TorchCommands {
  std::string_view build;  // build_id()
  int (*rank)(const runs::RankContext& context);
  int (*gpus)();
  int (*graph)(const recipe::Recipe& recipe, const std::string& file, const GraphOptions& what);
  plan::PlanAnswer (*plan)(inputs::PlanRecipes recipes, const plan::PlanQuestion& question);
  plan::SearchAnswer (*search)(inputs::PlanRecipes recipes, const plan::SearchQuestion& question,
                               const plan::Hooks<plan::SearchResult>& hooks);
  plan::CountingAnswer (*count_ranks)(inputs::PlanRecipes recipes,
                                      const plan::SearchQuestion& question,
                                      const plan::Hooks<plan::RankCounts>& hooks);
  int (*serve)();
  int (*calibrate)(int32_t ranks, bool json);
  int (*calibrate_gpus)(int32_t ranks, bool json);
};

/// The library's one symbol: a function that returns its table.
inline constexpr const char* kTorchCommands = "heddle_torch_commands";
using GiveTorchCommands = const TorchCommands* (*)();

/// Loads the library once. The error says why it cannot be.
Result<const TorchCommands*> load_torch_commands();

/// Calls a function of the table; without the library prints why, and returns 1.
template <typename Call>
int with_torch(const Call& call) {
  const auto torch = load_torch_commands();
  if (torch) return call(**torch);
  say(stderr, "heddle-engine: {}\n", torch.error().message);
  return 1;
}

}  // namespace heddle::commands
