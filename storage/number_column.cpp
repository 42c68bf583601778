#include "storage/number_column.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace heddle::storage {
namespace {

// A column: how it is packed, how many bytes follow, the bytes.
enum class Packed : uint8_t { not_at_all = 0, sorted = 1, differences = 2 };
struct [[gnu::packed]] ColumnHeader {
  Packed packed = Packed::not_at_all;
  uint32_t bytes = 0;
};

constexpr size_t kWord = sizeof(uint64_t);
constexpr int kEffort = 1;    // zstd's level: higher ones gain next to nothing on sorted bytes
constexpr size_t kFew = 16;   // so few numbers that packing saves less than its header takes
constexpr size_t kSmall = 8;  // a column packed to this fraction of its size is kept for comparison

using Square = std::array<uint64_t, kWord>;

/// Byte i of row j becomes byte j of row i (Hacker's Delight, 7-3).
void transpose(Square& rows) {
  const auto exchange = [&](size_t distance, uint64_t mask) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i & distance) continue;
      const uint64_t change = (rows[i] >> (8 * distance) ^ rows[i + distance]) & mask;
      rows[i + distance] ^= change;
      rows[i] ^= change << (8 * distance);
    }
  };
  exchange(4, 0x00000000ffffffff);
  exchange(2, 0x0000ffff0000ffff);
  exchange(1, 0x00ff00ff00ff00ff);
}

/// All first bytes, then all second ones …: bytes of equal place are alike.
void sort_by_place(std::span<const uint64_t> numbers, std::string& sorted) {
  const size_t count = numbers.size();
  sorted.resize(count * kWord);
  size_t i = 0;
  for (; i + kWord <= count; i += kWord) {
    Square rows;
    std::memcpy(rows.data(), &numbers[i], sizeof rows);
    transpose(rows);
    for (size_t place = 0; place < kWord; ++place)
      std::memcpy(&sorted[place * count + i], &rows[place], kWord);
  }
  for (; i < count; ++i)
    for (size_t place = 0; place < kWord; ++place)
      sorted[place * count + i] = static_cast<char>(numbers[i] >> (8 * place));
}

void put_in_order(std::string_view sorted, std::span<uint64_t> numbers) {
  const size_t count = numbers.size();
  size_t i = 0;
  for (; i + kWord <= count; i += kWord) {
    Square rows;
    for (size_t place = 0; place < kWord; ++place)
      std::memcpy(&rows[place], &sorted[place * count + i], kWord);
    transpose(rows);
    std::memcpy(&numbers[i], rows.data(), sizeof rows);
  }
  for (; i < count; ++i) {
    numbers[i] = 0;
    for (size_t place = 0; place < kWord; ++place)
      numbers[i] |= uint64_t{static_cast<uint8_t>(sorted[place * count + i])} << (8 * place);
  }
}

// A difference and its sign, which is the lowest bit: a small one has few bytes.
void take_differences(std::span<const uint64_t> numbers, std::vector<uint64_t>& differences) {
  differences.resize(numbers.size());
  uint64_t before = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const uint64_t difference = numbers[i] - before;
    differences[i] = difference << 1 ^ (difference >> 63 ? ~uint64_t{0} : 0);
    before = numbers[i];
  }
}

void sum_up(std::span<uint64_t> numbers) {
  uint64_t before = 0;
  for (uint64_t& number : numbers)
    before = number = before + (number >> 1 ^ (number & 1 ? ~uint64_t{0} : 0));
}

/// The number of bytes that differ from the previous number's: about as many as compression leaves.
size_t changing_bytes(std::span<const uint64_t> numbers) {
  constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f, kOnes = 0x0101010101010101;
  size_t changing = 0;
  uint64_t before = numbers.front();
  for (const uint64_t number : numbers) {
    const uint64_t change = number ^ before;
    const uint64_t marks = (((change & kLow) + kLow) | change) & ~kLow;  // bytes that are not 0
    changing += ((marks >> 7) * kOnes) >> 56;
    before = number;
  }
  return changing;
}

/// False if that saves nothing.
bool compress(std::string_view bytes, std::string& result) {
  // Kept: it has some hundred KiB, which take longer to make than a column to compress.
  thread_local const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                ZSTD_freeCCtx);
  result.resize(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compressCCtx(context.get(), result.data(), result.size(), bytes.data(),
                                        bytes.size(), kEffort);
  if (ZSTD_isError(size) || size >= bytes.size()) return false;
  result.resize(size);
  return true;
}

/// False unless they decompress to as many bytes as `result` has.
bool decompress(std::string_view bytes, std::string& result) {
  thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                                ZSTD_freeDCtx);
  const size_t made =
      ZSTD_decompressDCtx(context.get(), result.data(), result.size(), bytes.data(), bytes.size());
  return !ZSTD_isError(made) && made == result.size();
}

void put(std::string& bytes, Packed packed, std::string_view column) {
  const ColumnHeader header{packed, static_cast<uint32_t>(column.size())};
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += column;
}

/// The last columns that packed to next to nothing: a log's metrics have the same steps.
class RecentColumns {
 public:
  struct Column {
    std::vector<uint64_t> numbers;
    Packed packed = Packed::not_at_all;
    std::string bytes;
  };
  const Column* find(std::span<const uint64_t> numbers) const {
    const auto found = std::ranges::find_if(
        columns_, [&](const Column& each) { return std::ranges::equal(each.numbers, numbers); });
    return found == columns_.end() ? nullptr : &*found;
  }
  void add(std::span<const uint64_t> numbers, Packed packed, std::string_view bytes) {
    Column& oldest = columns_[next_++ % columns_.size()];
    oldest.numbers.assign(numbers.begin(), numbers.end());
    oldest.packed = packed;
    oldest.bytes = bytes;
  }

 private:
  std::array<Column, 8> columns_;
  size_t next_ = 0;
};

}  // namespace

void put_numbers(std::string& bytes, std::span<const uint64_t> numbers) {
  const std::string_view plain(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
  if (numbers.size() <= kFew) return put(bytes, Packed::not_at_all, plain);
  thread_local RecentColumns recent;
  if (const auto* same = recent.find(numbers)) return put(bytes, same->packed, same->bytes);
  thread_local std::vector<uint64_t> differences;
  thread_local std::string sorted, compressed;
  take_differences(numbers, differences);
  const bool differ_less = changing_bytes(differences) < changing_bytes(numbers);
  sort_by_place(differ_less ? std::span<const uint64_t>(differences) : numbers, sorted);
  if (!compress(sorted, compressed)) return put(bytes, Packed::not_at_all, plain);
  const Packed packed = differ_less ? Packed::differences : Packed::sorted;
  put(bytes, packed, compressed);
  if (compressed.size() * kSmall <= plain.size()) recent.add(numbers, packed, compressed);
}

bool take_numbers(std::string_view& bytes, std::span<uint64_t> numbers) {
  ColumnHeader header;
  if (numbers.empty() || bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (bytes.size() - sizeof header < header.bytes) return false;
  const std::string_view column = bytes.substr(sizeof header, header.bytes);
  bytes.remove_prefix(sizeof header + header.bytes);
  if (header.packed == Packed::not_at_all) {
    if (column.size() != numbers.size_bytes()) return false;
    std::memcpy(numbers.data(), column.data(), column.size());
    return true;
  }
  if (header.packed > Packed::differences) return false;
  thread_local std::string sorted;
  sorted.resize(numbers.size_bytes());
  if (!decompress(column, sorted)) return false;
  put_in_order(sorted, numbers);
  if (header.packed == Packed::differences) sum_up(numbers);
  return true;
}

}  // namespace heddle::storage
