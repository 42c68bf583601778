#include "engine/holdings/box.h"

#include <algorithm>

namespace heddle::holdings {

using recipe::Cut;

Box stored_box(const std::vector<int64_t>& shape, Cut cut, const recipe::Mesh& mesh, int64_t rank) {
  const int64_t tp = mesh.size(recipe::kTp), tp_index = mesh.index(rank, recipe::kTp);
  const std::vector<int64_t> local = recipe::local_shape(shape, cut, tp);
  const int64_t rows = shard_rows(local[0], mesh.size(recipe::kSharing));
  const int64_t first = cut == Cut::rows ? tp_index * local[0] : 0;
  const int64_t end = std::min(first + local[0], shape[0]);
  Box box;
  box.row_begin = std::min(first + mesh.index(rank, recipe::kSharing) * rows, end);
  box.row_end = std::min(box.row_begin + rows, end);
  if (shape.size() > 1) {
    box.column_begin = cut == Cut::columns ? tp_index * local[1] : 0;
    box.column_end = box.column_begin + local[1];
  }
  return box;
}

}  // namespace heddle::holdings
