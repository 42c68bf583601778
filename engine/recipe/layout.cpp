#include "engine/recipe/layout.h"

#include <algorithm>
#include <array>

namespace heddle::recipe {
namespace {

int64_t divided_up(int64_t count, int64_t parts) { return (count + parts - 1) / parts; }

bool names_one_of(std::string_view parameter, std::initializer_list<std::string_view> modules) {
  constexpr std::string_view kWeight = ".weight";
  if (parameter.ends_with(kWeight)) parameter.remove_suffix(kWeight.size());
  const std::string_view last = parameter.substr(parameter.rfind('.') + 1);
  return std::find(modules.begin(), modules.end(), last) != modules.end();
}

}  // namespace

Cut cut_of(std::string_view parameter) {
  if (names_one_of(parameter, {"wo", "w2"})) return Cut::columns;
  if (names_one_of(parameter, {"tok_embeddings", "wq", "wk", "wv", "w1", "w3", "output"}))
    return Cut::rows;
  return Cut::none;
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

}  // namespace heddle::recipe
