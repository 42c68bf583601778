// The part of a parameter that a rank stores, as rows and columns of the whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/recipe/cut.h"
#include "engine/recipe/mesh.h"

namespace heddle::holdings {

/// Rows and columns [begin, end); a tensor of one dimension has one column.
struct Box {
  int64_t row_begin = 0, row_end = 0;
  int64_t column_begin = 0, column_end = 1;

  int64_t rows() const { return row_end - row_begin; }
  int64_t columns() const { return column_end - column_begin; }
  bool operator==(const Box&) const = default;
};

/// Bytes of a number in a checkpoint, which holds fp32.
inline constexpr int64_t kStoredNumber = 4;

/// A rank's part of a tensor of a checkpoint.
struct Part {
  std::string name;            // in the checkpoint
  std::vector<int64_t> shape;  // of the whole tensor
  Box box;                     // this rank's rows and columns; may be empty

  int64_t numbers() const { return box.rows() * box.columns(); }
  int64_t bytes() const { return numbers() * kStoredNumber; }
};

/// Rows of each of `shards` shards: rounded up, the last ones end in zeros.
inline int64_t shard_rows(int64_t rows, int64_t shards) { return (rows + shards - 1) / shards; }

/// A rank's shard of its tensor-parallel part, without the zeros at its end. May be empty.
Box stored_box(const std::vector<int64_t>& shape, recipe::Cut cut, const recipe::Mesh& mesh,
               int64_t rank);

}  // namespace heddle::holdings
