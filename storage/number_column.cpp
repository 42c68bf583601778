#include "storage/number_column.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace heddle::storage {
namespace {

// A column: how it is packed, how many bytes follow, the bytes.
enum class Packed : uint8_t { not_at_all = 0, sorted = 1, differences = 2 };
struct [[gnu::packed]] ColumnHeader {
  Packed packed = Packed::not_at_all;
  uint32_t bytes = 0;
};

constexpr size_t kWord = sizeof(uint64_t);
constexpr int kEffort = 1;  // of zstd: more gains next to nothing once bytes are sorted

/// All first bytes, then all second ones …: bytes of equal place are alike.
std::string sorted_by_place(std::span<const uint64_t> numbers) {
  std::string sorted(numbers.size() * kWord, '\0');
  for (size_t place = 0; place < kWord; ++place)
    for (size_t i = 0; i < numbers.size(); ++i)
      sorted[place * numbers.size() + i] = static_cast<char>(numbers[i] >> (8 * place));
  return sorted;
}

std::vector<uint64_t> in_order(std::string_view sorted, size_t count) {
  std::vector<uint64_t> numbers(count);
  for (size_t place = 0; place < kWord; ++place)
    for (size_t i = 0; i < count; ++i)
      numbers[i] |= uint64_t{static_cast<uint8_t>(sorted[place * count + i])} << (8 * place);
  return numbers;
}

// A difference and its sign, which is the lowest bit: a small one has few bytes.
std::vector<uint64_t> differences(std::span<const uint64_t> numbers) {
  std::vector<uint64_t> result;
  result.reserve(numbers.size());
  uint64_t before = 0;
  for (const uint64_t number : numbers) {
    const uint64_t difference = number - before;
    result.push_back(difference << 1 ^ (difference >> 63 ? ~uint64_t{0} : 0));
    before = number;
  }
  return result;
}

void sum_up(std::vector<uint64_t>& numbers) {
  uint64_t before = 0;
  for (uint64_t& number : numbers)
    before = number = before + (number >> 1 ^ (number & 1 ? ~uint64_t{0} : 0));
}

std::string compressed(std::string_view bytes) {
  // Kept: it has some hundred KiB, which take longer to make than a column to compress.
  thread_local const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                ZSTD_freeCCtx);
  std::string result(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compressCCtx(context.get(), result.data(), result.size(), bytes.data(),
                                        bytes.size(), kEffort);
  if (ZSTD_isError(size)) return std::string(bytes);
  result.resize(size);
  return result;
}

/// Nothing unless they decompress to `size` bytes.
std::string decompressed(std::string_view bytes, size_t size) {
  thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                                ZSTD_freeDCtx);
  std::string result(size, '\0');
  const size_t made =
      ZSTD_decompressDCtx(context.get(), result.data(), result.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(made) || made != size) result.clear();
  return result;
}

void put(std::string& bytes, Packed packed, std::string_view column) {
  const ColumnHeader header{packed, static_cast<uint32_t>(column.size())};
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += column;
}

}  // namespace

void put_numbers(std::string& bytes, std::span<const uint64_t> numbers) {
  const std::string sorted = compressed(sorted_by_place(numbers));
  const std::string changes = compressed(sorted_by_place(differences(numbers)));
  const size_t plain = numbers.size() * kWord;
  if (plain <= std::min(sorted.size(), changes.size()))
    put(bytes, Packed::not_at_all, {reinterpret_cast<const char*>(numbers.data()), plain});
  else if (sorted.size() <= changes.size())
    put(bytes, Packed::sorted, sorted);
  else
    put(bytes, Packed::differences, changes);
}

std::vector<uint64_t> take_numbers(std::string_view& bytes, size_t count) {
  ColumnHeader header;
  if (count == 0 || bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() - sizeof header < header.bytes) return {};
  const std::string_view column = bytes.substr(sizeof header, header.bytes);
  bytes.remove_prefix(sizeof header + header.bytes);
  if (header.packed == Packed::not_at_all) {
    if (column.size() != count * kWord) return {};
    std::vector<uint64_t> numbers(count);
    std::memcpy(numbers.data(), column.data(), column.size());
    return numbers;
  }
  if (header.packed > Packed::differences) return {};
  const std::string sorted = decompressed(column, count * kWord);
  if (sorted.empty()) return {};
  std::vector<uint64_t> numbers = in_order(sorted, count);
  if (header.packed == Packed::differences) sum_up(numbers);
  return numbers;
}

}  // namespace heddle::storage
