#include "engine/recipe/layout.h"

#include <algorithm>
#include <array>

#include "engine/recipe/modules.h"
#include "engine/recipe/stages.h"

namespace heddle::recipe {
namespace {

int64_t divided_up(int64_t count, int64_t parts) { return (count + parts - 1) / parts; }

bool names_one_of(std::string_view parameter, std::initializer_list<std::string_view> modules) {
  const std::string_view module = module_of(parameter);
  const std::string_view last = module.substr(module.rfind('.') + 1);
  return std::find(modules.begin(), modules.end(), last) != modules.end();
}

}  // namespace

Cut cut_of(std::string_view parameter) {
  // A bias behind them is added to the sum, which all ranks have.
  if (names_one_of(parameter, {"wo", "w2"}))
    return parameter.ends_with(".bias") ? Cut::none : Cut::columns;
  if (names_one_of(parameter, {"tok_embeddings", "wq", "wk", "wv", "w1", "w3", "output"}))
    return Cut::rows;
  return Cut::none;
}

bool is_of_heads(std::string_view parameter) {
  return names_one_of(parameter, {"q_norm", "k_norm"});
}

std::vector<int64_t> local_shape(std::vector<int64_t> shape, Cut cut, int64_t tp) {
  if (cut == Cut::rows) shape[0] = divided_up(shape[0], tp);
  if (cut == Cut::columns) shape[1] /= tp;
  return shape;
}

int64_t shard_rows(int64_t rows, int64_t shards) { return divided_up(rows, shards); }

Box stored_box(const std::vector<int64_t>& shape, Cut cut, const Mesh& mesh, int64_t rank) {
  const int64_t tp = mesh.size(kTp), tp_index = mesh.index(rank, kTp);
  const std::vector<int64_t> local = local_shape(shape, cut, tp);
  const int64_t rows = shard_rows(local[0], mesh.size(kSharing));
  const int64_t first = cut == Cut::rows ? tp_index * local[0] : 0;
  const int64_t end = std::min(first + local[0], shape[0]);
  Box box;
  box.row_begin = std::min(first + mesh.index(rank, kSharing) * rows, end);
  box.row_end = std::min(box.row_begin + rows, end);
  if (shape.size() > 1) {
    box.column_begin = cut == Cut::columns ? tp_index * local[1] : 0;
    box.column_end = box.column_begin + local[1];
  }
  return box;
}

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

Part Layout::part_of(std::string_view parameter, const std::vector<int64_t>& shape) const {
  Part part{cut_of(parameter), {}, {}};
  part.local = part.shard = local_shape(shape, part.cut, mesh_.size(kTp));
  part.shard[0] = shard_rows(part.local[0], mesh_.size(kSharing));
  return part;
}

Box Layout::stored_box(std::string_view parameter, const std::vector<int64_t>& shape,
                       int64_t rank) const {
  return recipe::stored_box(shape, cut_of(parameter), mesh_, rank);
}

}  // namespace heddle::recipe
