// A parameter of the model and everything that follows for it from the recipe and its layout: one
// row of the table that `parameters_of` makes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/holdings/update_rules.h"
#include "engine/recipe/mesh.h"
#include "engine/recipe/modules.h"

namespace heddle::holdings {

/// The model's part: module, shape, cut and name.
struct Parameter : recipe::Parameter {
  Parameter() = default;
  explicit Parameter(recipe::Parameter of_model) : recipe::Parameter(std::move(of_model)) {}

  /// Sizes of a tensor-parallel rank's part, and of the shard of that part that a rank stores, the
  /// zeros at its end included.
  std::vector<int64_t> local;
  std::vector<int64_t> shard;

  /// Dimensions of the mesh along which ranks hold the same shard.
  recipe::Dims shared_by = 0;
  /// Process groups over which ranks sum its gradient after the scatter, in this order.
  std::vector<std::string> summed_over;

  int64_t stage = 0;  // the pipeline stage that reads it
  /// The output of tied embeddings: the embedding's name. At the other end of a pipeline it is a
  /// copy, which the norm of the gradient leaves out and no rank writes to checkpoints. Else empty.
  std::string copy_of;

  bool eight_bits = false;  // gathered in 8 bits
  UpdateRule rule;
  std::string hugging_face_name;  // "model.layers.3.self_attn.q_proj.weight"
  int64_t head_dim = 0;           // the rows that RoPE turns together, per head; else 0

  bool is_cut() const { return cut != recipe::Cut::none; }
  int64_t rows() const { return shape[0]; }
  int64_t columns() const { return shape.size() > 1 ? shape[1] : 1; }

  /// Heddle's row r is Hugging Face's row `hugging_face_row(r)`: the pair (2i, 2i + 1) of a head,
  /// which RoPE rotates, is half a head apart there.
  int64_t hugging_face_row(int64_t row) const {
    if (head_dim == 0) return row;
    const int64_t in_head = row % head_dim;
    return row - in_head + in_head % 2 * (head_dim / 2) + in_head / 2;
  }
};

}  // namespace heddle::holdings
