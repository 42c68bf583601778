#include "engine/data/stored_ids.h"

#include <algorithm>
#include <vector>

namespace heddle::data {
namespace {

template <typename Id>
Result<> read(const PlainFile& file, uint64_t at, std::span<int64_t> ids) {
  std::vector<Id> narrow(ids.size());
  if (auto done = file.read_at(narrow.data(), narrow.size() * sizeof(Id), at); !done) return done;
  std::ranges::copy(narrow, ids.begin());
  return {};
}

}  // namespace

uint64_t bytes_of(IdType type) { return type == IdType::u16 ? 2 : type == IdType::i64 ? 8 : 4; }

Result<> read_ids(const PlainFile& file, IdType type, uint64_t at, std::span<int64_t> ids) {
  switch (type) {
    case IdType::u16:
      return read<uint16_t>(file, at, ids);
    case IdType::u32:
      return read<uint32_t>(file, at, ids);
    case IdType::i32:
      return read<int32_t>(file, at, ids);
    case IdType::i64:
      return read<int64_t>(file, at, ids);
  }
  return {};
}

}  // namespace heddle::data
