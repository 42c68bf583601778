// A parameter of the model and everything that follows for it from the recipe and its layout: one
// row of the table `parameters_of`.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "engine/recipe/layout.h"
#include "engine/recipe/mesh.h"
#include "engine/recipe/update_rules.h"

namespace heddle::holdings {

/// Elements of a tensor of these sizes.
inline int64_t elements_of(const std::vector<int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

struct Parameter {
  std::string module;  // "layers.3.attention.wq"
  bool is_bias = false;
  std::vector<int64_t> shape;  // of the whole: [out, in], [dim] of a norm, [out] of a bias

  /// How tensor parallelism cuts it, the sizes of a tensor-parallel rank's part, and the sizes of
  /// the shard of that part that a rank stores, the zeros at its end included.
  recipe::Cut cut = recipe::Cut::none;
  std::vector<int64_t> local;
  std::vector<int64_t> shard;

  /// Dimensions of the mesh along which ranks hold the same shard.
  recipe::Dims shared_by = 0;
  /// Process groups over which ranks sum its gradient after the scatter, in this order.
  std::vector<std::string> summed_over;

  int64_t stage = 0;  // the pipeline stage that reads it
  /// Tied embeddings are at both ends of a pipeline: the last stage holds a copy, called "output",
  /// which checkpoints and the norm of the gradient leave out. Else empty.
  std::string copy_of;

  bool eight_bits = false;  // gathered in 8 bits
  recipe::UpdateRule rule;
  std::string hugging_face_name;  // "model.layers.3.self_attn.q_proj.weight"

  /// "layers.3.attention.wq.weight"
  std::string name() const { return module + (is_bias ? ".bias" : ".weight"); }
  bool is_cut() const { return cut != recipe::Cut::none; }
};

}  // namespace heddle::holdings
