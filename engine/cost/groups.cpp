#include "engine/cost/groups.h"

#include "engine/passes/stage.h"
#include "engine/recipe/stages.h"

namespace heddle::cost {

std::map<std::string, Group> groups_of(const recipe::Recipe& recipe) {
  std::map<std::string, Group> groups;
  const recipe::Mesh mesh(recipe.parallelism);
  for (const recipe::Dims dims : recipe::kGroups)
    if (const std::string name = mesh.name(dims); !name.empty()) groups[name] = {dims, {}};
  if (recipe.parallelism.pp == 1) return groups;
  const auto stages = static_cast<int64_t>(recipe::layers_of_stages(recipe).size());
  for (int64_t stage = 0; stage + 1 < stages; ++stage) {
    groups[passes::transfer_group(stage, stage + 1)] = {recipe::kPp, {{stage, stage + 1}}};
    groups[passes::transfer_group(stage + 1, stage)] = {recipe::kPp, {{stage + 1, stage}}};
  }
  groups[passes::kEndsGroup] = {recipe::kPp, {{0, stages - 1}}};
  return groups;
}

}  // namespace heddle::cost
