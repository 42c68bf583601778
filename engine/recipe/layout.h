// Which part of each parameter a rank has.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/recipe/mesh.h"

namespace heddle::recipe {

/// How tensor parallelism cuts a parameter (Megatron, arXiv 1909.08053): rows are outputs, columns
/// inputs of a linear layer; rows of the embedding are tokens.
enum class Cut { none, rows, columns };
Cut cut_of(std::string_view parameter);

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

}  // namespace heddle::recipe
