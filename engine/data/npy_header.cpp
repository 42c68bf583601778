#include "engine/data/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/excerpt.h"

namespace heddle::data {
namespace {

constexpr size_t kMaxHeader = 1 << 16;

/// The header from a key's value on.
std::string_view value_of(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  header.remove_prefix(at + key.size());
  return header.substr(std::min(header.find_first_not_of(": "), header.size()));
}

std::string_view between(std::string_view value, char begin, char end) {
  if (!value.starts_with(begin)) return {};
  const size_t length = value.find(end, 1);
  return length == std::string_view::npos ? "" : value.substr(1, length - 1);
}

std::optional<IdType> type_of(std::string_view name) {
  if (name == "<u2") return IdType::u16;
  if (name == "<u4") return IdType::u32;
  if (name == "<i4") return IdType::i32;
  if (name == "<i8") return IdType::i64;
  return std::nullopt;
}

/// The one size of "20,".
std::optional<int64_t> size_in(std::string_view shape) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
  const bool alone = std::string_view(end, shape.data() + shape.size()) == ",";
  return error == std::errc() && size >= 0 && alone ? std::optional(size) : std::nullopt;
}

}  // namespace

Result<StoredIds> read_npy_header(const PlainFile& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<char, 12> start{};
  if (auto read = file.read_at(start.data(), start.size(), 0); !read) return fail(read);
  if (std::string_view(start.data(), kMagic.size()) != kMagic)
    return fail("{}: is no .npy file", file.path());
  const bool wide = start[6] > 1;
  const uint64_t at = wide ? 12 : 10;
  uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, wide ? 4 : 2);
  std::string header(std::min<size_t>(length, kMaxHeader), '\0');
  if (auto read = file.read_at(header.data(), header.size(), at); !read) return fail(read);

  const std::string_view name = between(value_of(header, "'descr'"), '\'', '\'');
  const std::optional<IdType> type = type_of(name);
  if (!type)
    return fail("{}: holds numbers of type \"{}\"; valid: uint16, uint32, int32, int64",
                file.path(), excerpt(name, 40));
  const std::string_view shape = between(value_of(header, "'shape'"), '(', ')');
  const std::optional<int64_t> count = size_in(shape);
  if (!count)
    return fail("{}: has the shape ({}); valid: one dimension", file.path(), excerpt(shape, 40));
  const StoredIds ids{*type, at + length, *count};
  if (ids.begin > file.size() ||
      static_cast<uint64_t>(ids.count) > (file.size() - ids.begin) / bytes_of(ids.type))
    return fail("{}: is cut short: {} numbers do not fit its {} bytes", file.path(), ids.count,
                file.size());
  return ids;
}

}  // namespace heddle::data
