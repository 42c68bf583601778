#include "engine/checkpoint/check_contents.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/budget.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/checkpoint/safetensors_header.h"

namespace heddle::checkpoint {
namespace {

using holdings::Box;

constexpr int64_t kMaxFileBytes = int64_t{1} << 60;

std::string box_text(const Box& box) {
  return fmt::format("rows {} to {}, columns {} to {}", box.row_begin, box.row_end,
                     box.column_begin, box.column_end);
}

Result<> check_file(const std::string& name, const StoredFile& file) {
  if (name.empty() || name.find('/') != std::string::npos)
    return fail("\"{}\" is no file of the folder", name);
  if (file.bytes < 0 || file.bytes > kMaxFileBytes || file.header_bytes < 0 ||
      file.header_bytes > std::min(file.bytes, kMaxHeaderBytes))
    return fail("{}: {} bytes with a header of {} cannot be", name, file.bytes, file.header_bytes);
  return {};
}

/// The whole of a tensor as one box.
Result<Box> box_of(const std::string& name, const StoredTensor& tensor) {
  const auto& shape = tensor.shape;
  const bool sound = (shape.size() == 1 || shape.size() == 2) &&
                     std::ranges::all_of(shape, [](int64_t n) { return n >= 0; });
  const Box all{0, sound ? shape[0] : 0, 0, sound && shape.size() == 2 ? shape[1] : 1};
  int64_t numbers = 0;
  if (!sound || __builtin_mul_overflow(all.rows(), all.columns(), &numbers) ||
      numbers > kMaxNumbers)
    return fail("tensor \"{}\": shape {}", name, shape_text(shape));
  return all;
}

bool lies_in(const Box& box, const Box& all) {
  return 0 <= box.row_begin && box.row_begin < box.row_end && box.row_end <= all.row_end &&
         0 <= box.column_begin && box.column_begin < box.column_end &&
         box.column_end <= all.column_end;
}

bool lies_in(const Shard& shard, const StoredFile& file) {
  return shard.offset >= file.header_bytes && shard.offset <= file.bytes &&
         shard.bytes() <= file.bytes - shard.offset;
}

/// A box that shares numbers with one before it; nullptr: none. A sweep over the rows.
const Box* overlapping(const std::vector<Shard>& shards) {
  std::vector<const Box*> boxes;
  for (const Shard& shard : shards) boxes.push_back(&shard.box);
  std::ranges::sort(boxes, {}, [](const Box* box) { return box->row_begin; });
  std::map<int64_t, const Box*> here;     // that have the row: by their first column
  std::multimap<int64_t, int64_t> until;  // the row where one ends, and its first column
  for (const Box* box : boxes) {
    while (!until.empty() && until.begin()->first <= box->row_begin) {
      here.erase(until.begin()->second);
      until.erase(until.begin());
    }
    const auto next = here.lower_bound(box->column_begin);
    if (next != here.end() && next->first < box->column_end) return box;
    if (next != here.begin() && std::prev(next)->second->column_end > box->column_begin) return box;
    here.emplace(box->column_begin, box);
    until.emplace(box->row_end, box->column_begin);
  }
  return nullptr;
}

Result<> check_tensor(const std::string& name, const StoredTensor& tensor,
                      const std::map<std::string, StoredFile>& files) {
  const Result<Box> all = box_of(name, tensor);
  if (!all) return fail(all);
  int64_t covered = 0;
  for (const Shard& shard : tensor.shards) {
    const auto file = files.find(shard.file);
    if (!lies_in(shard.box, *all) || file == files.end() || !lies_in(shard, file->second) ||
        static_cast<int64_t>(shard.hashes.size()) !=
            (shard.bytes() + kHashedBytes - 1) / kHashedBytes)
      return fail("tensor \"{}\": its shard in {} ({}) is not sound", name, shard.file,
                  box_text(shard.box));
    if (__builtin_add_overflow(covered, shard.box.rows() * shard.box.columns(), &covered))
      return fail("tensor \"{}\": its shards have more numbers than can be counted", name);
  }
  if (const Box* twice = overlapping(tensor.shards))
    return fail("tensor \"{}\": two shards have the same numbers: {}", name, box_text(*twice));
  if (covered != all->rows() * all->columns())
    return fail("tensor \"{}\": its shards have {} numbers, its shape {} has {}", name, covered,
                shape_text(tensor.shape), all->rows() * all->columns());
  return {};
}

/// Where a shard's bytes are.
struct Place {
  std::string_view file;
  int64_t begin, end;
  const std::string* tensor;
};

Result<> check_places(const Contents& contents) {
  std::vector<Place> places;
  for (const auto& [name, tensor] : contents.tensors)
    for (const Shard& shard : tensor.shards)
      places.push_back({shard.file, shard.offset, shard.offset + shard.bytes(), &name});
  std::ranges::sort(places, {},
                    [](const Place& place) { return std::tie(place.file, place.begin); });
  for (size_t i = 1; i < places.size(); ++i) {
    const Place &before = places[i - 1], &place = places[i];
    if (before.file == place.file && before.end > place.begin)
      return fail("{}: tensors \"{}\" and \"{}\" have the same bytes, from {} on", place.file,
                  *before.tensor, *place.tensor, place.begin);
  }
  return {};
}

}  // namespace

Result<> check_contents(const Contents& contents) {
  for (const auto& [name, file] : contents.files)
    if (auto sound = check_file(name, file); !sound) return sound;
  for (const auto& [name, tensor] : contents.tensors)
    if (auto sound = check_tensor(name, tensor, contents.files); !sound) return sound;
  return check_places(contents);
}

}  // namespace heddle::checkpoint
