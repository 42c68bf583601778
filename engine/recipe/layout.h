// What a recipe's parallelism comes to: which ranks are in a group with whom, which pipeline stage
// has which modules, and which part of each parameter a rank has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recipe/mesh.h"
#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// How tensor parallelism cuts a parameter (Megatron, arXiv 1909.08053): rows are outputs, columns
/// inputs of a linear layer; rows of the embedding are tokens.
enum class Cut { none, rows, columns };
Cut cut_of(std::string_view parameter);

/// Whether all tensor-parallel ranks have it whole and each uses it on its own heads: the gradient
/// is the sum of theirs.
bool is_of_heads(std::string_view parameter);

/// Rows and columns [begin, end) of a parameter; what has one dimension has one column.
struct Box {
  int64_t row_begin = 0, row_end = 0;
  int64_t column_begin = 0, column_end = 1;

  int64_t rows() const { return row_end - row_begin; }
  int64_t columns() const { return column_end - column_begin; }
  bool operator==(const Box&) const = default;
};

/// The sizes of what a tensor-parallel rank has of a parameter. Rows that do not divide are rounded
/// up: the last rank's last rows are zeros.
std::vector<int64_t> local_shape(std::vector<int64_t> shape, Cut cut, int64_t tp);

/// Rows of each of `shards` shards: rounded up, the last ones end in zeros.
int64_t shard_rows(int64_t rows, int64_t shards);

/// What a rank stores of a parameter of these sizes: its shard of its tensor-parallel part, without
/// the zeros at its end. May be empty.
Box stored_box(const std::vector<int64_t>& shape, Cut cut, const Mesh& mesh, int64_t rank);

/// A process group of a run.
struct Group {
  std::string name;
  int64_t ranks = 1;
  Dims dims = 0;                         // along the mesh; 0: of two ranks of a pipeline
  int64_t from_stage = 0, to_stage = 0;  // those that have these stages

  bool is_pair() const { return dims == 0; }
};

/// What ranks have of a parameter.
struct Part {
  Cut cut = Cut::none;
  std::vector<int64_t> local;  // sizes of a tensor-parallel rank's part
  std::vector<int64_t>
      shard;  // of the shard of it that a rank stores, the zeros at its end included
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
  /// The ranks of the group of this kind that lies along `rank`'s pipeline, or that it is in.
  std::vector<int> members(int64_t rank, const Group& group) const;
  /// By its name; nullptr where the layout has none of that name.
  const Group* group(std::string_view name) const;

  Part part_of(std::string_view parameter, const std::vector<int64_t>& shape) const;
  Box stored_box(std::string_view parameter, const std::vector<int64_t>& shape, int64_t rank) const;

 private:
  Mesh mesh_;
  std::vector<int64_t> stage_layers_;
  std::vector<Group> groups_;
  bool ends_apart_ = false;
};

}  // namespace heddle::recipe
