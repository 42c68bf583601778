// The one symbol that the engine looks up in libheddle_torch.so.
#include "base/build_id.h"
#include "engine/commands/torch_library.h"
#include "engine/runtime/device.h"
#include "engine/search/counting_ranks.h"
#include "engine/torch_commands/torch_commands.h"
#include "engine/train/rank.h"

namespace heddle::torch_commands {
namespace {

plan::PlanAnswer answer_plan(inputs::PlanRecipes recipes, const plan::PlanQuestion& question) {
  return predict::Planning(/*awaits_speed=*/true, std::move(recipes)).answer(question);
}

plan::SearchAnswer answer_search(inputs::PlanRecipes recipes, const plan::SearchQuestion& question,
                                 const search::Hooks& hooks) {
  predict::Planning planning(/*awaits_speed=*/false, std::move(recipes));
  return search::search_layouts(planning, question, hooks);
}

plan::CountingAnswer answer_counts(inputs::PlanRecipes recipes,
                                   const plan::SearchQuestion& question,
                                   const search::CountingHooks& hooks) {
  predict::Planning planning(/*awaits_speed=*/false, std::move(recipes));
  return search::count_ranks(planning, question, hooks);
}

const commands::TorchCommands table{.build = build_id(),
                                    .rank = &train::run_rank,
                                    .gpus = &runtime::print_gpus,
                                    .graph = &graph,
                                    .plan = &answer_plan,
                                    .search = &answer_search,
                                    .count_ranks = &answer_counts,
                                    .serve = &serve_plans,
                                    .calibrate = &calibrate,
                                    .calibrate_gpus = &calibrate_gpus};

}  // namespace
}  // namespace heddle::torch_commands

extern "C" const heddle::commands::TorchCommands* heddle_torch_commands() {
  return &heddle::torch_commands::table;
}
