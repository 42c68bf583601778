#include "engine/data/megatron_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace heddle::data {
namespace {

constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
constexpr uint64_t kHeader = 34;       // magic, version (64 bits), type (8), two counts (64)
constexpr uint64_t kAtOnce = 1 << 16;  // entries

std::optional<IdType> type_of(unsigned code) {
  if (code == 8) return IdType::u16;
  if (code == 4) return IdType::i32;
  if (code == 5) return IdType::i64;
  return std::nullopt;
}

template <typename Number>
Result<std::vector<Number>> numbers_at(const PlainFile& file, uint64_t at, uint64_t count) {
  std::vector<Number> numbers(count);
  if (auto read = file.read_at(numbers.data(), count * sizeof(Number), at); !read)
    return fail(read);
  return numbers;
}

}  // namespace

Result<MegatronIndex> MegatronIndex::open(const std::string& path, uint64_t data_bytes) {
  auto file = PlainFile::open_existing(path);
  if (!file) return fail(file);
  std::array<char, kHeader> header{};
  if (auto read = file->read_at(header.data(), header.size(), 0); !read) return fail(read);
  if (std::string_view(header.data(), kMagic.size()) != kMagic)
    return fail("{}: is no index of Megatron's", path);
  const auto code = static_cast<unsigned char>(header[17]);
  const std::optional<IdType> type = type_of(code);
  if (!type)
    return fail(
        "{}: its numbers are of Megatron's type {}; valid: 8 (uint16), 4 (int32), 5 (int64)", path,
        code);
  MegatronIndex index(std::move(*file), *type);
  std::memcpy(&index.sequences_, header.data() + 18, sizeof(uint64_t));
  std::memcpy(&index.documents_, header.data() + 26, sizeof(uint64_t));
  const uint64_t size = index.file_.size();
  if (index.sequences_ > size || index.documents_ > size ||
      kHeader + index.sequences_ * 12 + index.documents_ * 8 > size)
    return fail("{}: is cut short: {} sequences and {} documents do not fit its {} bytes", path,
                index.sequences_, index.documents_, size);
  index.lengths_at_ = kHeader;
  index.places_at_ = kHeader + index.sequences_ * 4;
  index.documents_at_ = kHeader + index.sequences_ * 12;
  index.data_bytes_ = data_bytes;
  if (auto checked = index.check_sequences(data_bytes); !checked) return fail(checked);
  if (auto checked = index.check_documents(); !checked) return fail(checked);
  return index;
}

Result<> MegatronIndex::check_sequences(uint64_t data_bytes) const {
  uint64_t end = 0;
  for (uint64_t first = 0; first < sequences_; first += kAtOnce) {
    const uint64_t count = std::min(kAtOnce, sequences_ - first);
    const auto lengths = numbers_at<int32_t>(file_, lengths_at_ + first * 4, count);
    if (!lengths) return fail(lengths);
    const auto places = numbers_at<uint64_t>(file_, places_at_ + first * 8, count);
    if (!places) return fail(places);
    for (uint64_t i = 0; i < count; ++i) {
      if ((*places)[i] != end || (*lengths)[i] < 0)
        return fail(
            "{}: sequence {} has {} ids from byte {} on, but the ones before it end at byte {}; "
            "valid: sequences one after the other, as Megatron writes them",
            file_.path(), first + i, (*lengths)[i], (*places)[i], end);
      end += static_cast<uint64_t>((*lengths)[i]) * bytes_of(type_);
    }
  }
  if (end == data_bytes) return {};
  return fail("{}: its sequences have {} bytes, but the .bin has {}; valid: both of one run",
              file_.path(), end, data_bytes);
}

Result<> MegatronIndex::check_documents() const {
  uint64_t before = 0;
  for (uint64_t first = 0; first < documents_; first += kAtOnce) {
    const uint64_t count = std::min(kAtOnce, documents_ - first);
    const auto begins = numbers_at<uint64_t>(file_, documents_at_ + first * 8, count);
    if (!begins) return fail(begins);
    for (uint64_t i = 0; i < count; before = (*begins)[i++])
      if ((*begins)[i] < before || (*begins)[i] > sequences_)
        return fail(
            "{}: document {} begins with sequence {}, after one that begins with {}, of {} "
            "sequences in all; valid: documents in their order",
            file_.path(), first + i, (*begins)[i], before, sequences_);
  }
  if (before == sequences_) return {};
  return fail("{}: its documents end with sequence {} of {}; valid: all sequences in documents",
              file_.path(), before, sequences_);
}

Result<uint64_t> MegatronIndex::begin_of(uint64_t document) const {
  uint64_t number = 0;
  if (auto read = file_.read_at(&number, sizeof(number), documents_at_ + document * 8); !read)
    return fail(read);
  if (number >= sequences_) return data_bytes_;
  if (auto read = file_.read_at(&number, sizeof(number), places_at_ + number * 8); !read)
    return fail(read);
  return number;
}

Result<> MegatronIndex::flag_begins(int64_t first, std::span<uint8_t> begins) const {
  const uint64_t size = bytes_of(type_), place = static_cast<uint64_t>(first) * size;
  uint64_t document = 0;
  for (uint64_t end = documents_; document < end;) {
    const uint64_t middle = (document + end) / 2;
    const auto begin = begin_of(middle);
    if (!begin) return fail(begin);
    if (*begin < place) {
      document = middle + 1;
    } else {
      end = middle;
    }
  }
  for (; document < documents_; ++document) {
    const auto begin = begin_of(document);
    if (!begin) return fail(begin);
    const uint64_t id = (*begin - place) / size;
    if (id >= begins.size()) break;
    begins[id] = 1;
  }
  return {};
}

}  // namespace heddle::data
