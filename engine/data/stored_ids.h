// Token ids as files store them.
#pragma once

#include <cstdint>
#include <span>

#include "base/plain_file.h"
#include "base/result.h"

namespace heddle::data {

enum class IdType { u16, u32, i32, i64 };

uint64_t bytes_of(IdType type);

/// Ids from byte `at` on. Any thread.
Result<> read_ids(const PlainFile& file, IdType type, uint64_t at, std::span<int64_t> ids);

/// A file's ids: one after the other, from a byte on.
struct StoredIds {
  IdType type = IdType::u32;
  uint64_t begin = 0;
  int64_t count = 0;
};

}  // namespace heddle::data
