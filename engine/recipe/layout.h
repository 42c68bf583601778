// A recipe's parallelism, resolved: which ranks are in a group together, and which pipeline stage
// has which modules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recipe/mesh.h"
#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// A process group of a run.
struct Group {
  std::string name;
  int64_t ranks = 1;
  Dims dims = 0;                         // along the mesh; 0: of two ranks of a pipeline
  int64_t from_stage = 0, to_stage = 0;  // those that have these stages

  bool is_pair() const { return dims == 0; }
};

/// Made once of a resolved recipe, and passed on. Plain data and arithmetic.
class Layout {
 public:
  Layout() = default;
  explicit Layout(const Recipe& recipe);

  const Mesh& mesh() const { return mesh_; }

  /// Layers of each pipeline stage. A rank has the stages rank, rank + pp, …
  const std::vector<int64_t>& stage_layers() const { return stage_layers_; }
  int64_t stages() const { return static_cast<int64_t>(stage_layers_.size()); }
  /// The stage of a module; −1 for what belongs to the whole step.
  int64_t stage_of(std::string_view module) const;
  /// Tied embeddings are at both ends of a pipeline, and their gradients are summed.
  bool ends_apart() const { return ends_apart_; }

  /// All groups of more than one rank, in the order in which ranks make them.
  const std::vector<Group>& groups() const { return groups_; }
  /// The ranks of the group of this kind along `rank`'s pipeline, or that it is in.
  std::vector<int> members(int64_t rank, const Group& group) const;
  /// By its name; nullptr where the layout has none of that name.
  const Group* group(std::string_view name) const;

 private:
  Mesh mesh_;
  std::vector<int64_t> stage_layers_;
  std::vector<Group> groups_;
  bool ends_apart_ = false;
};

}  // namespace heddle::recipe
