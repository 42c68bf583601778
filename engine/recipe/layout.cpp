#include "engine/recipe/layout.h"

#include <algorithm>

#include "engine/recipe/modules.h"
#include "engine/recipe/stages.h"

namespace heddle::recipe {
Layout::Layout(const Recipe& recipe)
    : mesh_(recipe.parallelism),
      stage_layers_(layers_of_stages(recipe)),
      ends_apart_(recipe.model.tied_embeddings && recipe.parallelism.pp > 1) {
  for (const Dims dims : kGroups)
    if (std::string name = mesh_.name(dims); !name.empty() && !group(name))
      groups_.push_back({std::move(name), mesh_.size(dims), dims});
  if (mesh_.size(kPp) == 1) return;
  const auto pair = [&](std::string name, int64_t from, int64_t to) {
    groups_.push_back({std::move(name), 2, 0, from, to});
  };
  for (int64_t stage = 0; stage + 1 < stages(); ++stage) {
    pair(transfer_group(stage, stage + 1), stage, stage + 1);
    pair(transfer_group(stage + 1, stage), stage + 1, stage);
  }
  pair(kEndsGroup, 0, stages() - 1);
}

int64_t Layout::stage_of(std::string_view module) const {
  if (auto layer = layer_of(module)) {
    for (int64_t stage = 0; stage < stages(); ++stage) {
      if (*layer < stage_layers_[stage]) return stage;
      *layer -= stage_layers_[stage];
    }
    return -1;
  }
  if (module == "tok_embeddings") return 0;
  const bool last = module == "norm" || module == "output" || module == "loss";
  return last ? stages() - 1 : -1;
}

std::vector<int> Layout::members(int64_t rank, const Group& group) const {
  if (!group.is_pair()) return mesh_.group(rank, group.dims);
  const std::vector<int> pipeline = mesh_.group(rank, kPp);
  const auto ranks = static_cast<int64_t>(pipeline.size());
  return {pipeline[group.from_stage % ranks], pipeline[group.to_stage % ranks]};
}

const Group* Layout::group(std::string_view name) const {
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& each) { return each.name == name; });
  return found == groups_.end() ? nullptr : &*found;
}

}  // namespace heddle::recipe
