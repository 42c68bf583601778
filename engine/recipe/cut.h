// How tensor parallelism cuts a parameter.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::recipe {

/// Megatron's cuts (arXiv 1909.08053): rows are outputs, columns inputs of a linear layer; rows of
/// the embedding are tokens.
enum class Cut { none, rows, columns };

/// The sizes of a tensor-parallel rank's part. Rows that do not divide are rounded up: the last
/// rank's last rows are zeros.
inline std::vector<int64_t> local_shape(std::vector<int64_t> shape, Cut cut, int64_t tp) {
  if (cut == Cut::rows) shape[0] = (shape[0] + tp - 1) / tp;
  if (cut == Cut::columns) shape[1] /= tp;
  return shape;
}

}  // namespace heddle::recipe
