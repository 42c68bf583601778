#include "engine/data/token_files.h"

#include <cstring>
#include <filesystem>
#include <optional>
#include <regex>

#include "engine/data/open_file.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;

enum class IdType { u16, u32, i32, i64 };

uint64_t bytes_of(IdType type) { return type == IdType::u16 ? 2 : type == IdType::i64 ? 8 : 4; }

/// Where documents begin, by Megatron's index: the byte of the data at which each one does.
struct DocumentIndex {
  OpenFile file;
  uint64_t at;  // of the first in the index
  uint64_t count;

  Result<uint64_t> begin(uint64_t document) const {
    uint64_t byte = 0;
    if (auto read = file.read(&byte, sizeof(byte), at + document * sizeof(byte)); !read)
      return fail(read);
    return byte;
  }
  /// The first document that begins at the byte or behind it.
  Result<uint64_t> first_from(uint64_t byte) const {
    uint64_t low = 0, high = count;
    while (low < high) {
      const uint64_t middle = (low + high) / 2;
      const auto found = begin(middle);
      if (!found) return found;
      (*found < byte ? low : high) = *found < byte ? middle + 1 : middle;
    }
    return low;
  }
};

class NumberFile : public TokenSource {
 public:
  NumberFile(OpenFile file, IdType type, uint64_t begin, int64_t tokens, int64_t vocab_size,
             std::optional<DocumentIndex> index)
      : file_(std::move(file)),
        type_(type),
        begin_(begin),
        tokens_(tokens),
        vocab_size_(vocab_size),
        index_(std::move(index)) {}

  Result<Known> await(int64_t) override { return Known{tokens_, true}; }

  Result<> read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const override {
    const uint64_t size = bytes_of(type_), place = begin_ + static_cast<uint64_t>(at) * size;
    auto read = type_ == IdType::u16   ? file_.read_ids<uint16_t>(place, ids)
                : type_ == IdType::u32 ? file_.read_ids<uint32_t>(place, ids)
                : type_ == IdType::i32 ? file_.read_ids<int32_t>(place, ids)
                                       : file_.read_ids<int64_t>(place, ids);
    if (!read) return read;
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] < 0 || ids[i] >= vocab_size_)
        return fail("data.token_ids: {}: holds {} (token {}); valid: 0 to {}", file_.path(), ids[i],
                    at + static_cast<int64_t>(i), vocab_size_ - 1);
    std::ranges::fill(begins, 0);
    if (!index_) return {};
    auto document = index_->first_from(place);
    for (; document && *document < index_->count; ++*document) {
      const auto byte = index_->begin(*document);
      if (!byte) return fail(byte);
      const uint64_t token = (*byte - place) / size;
      if (token >= begins.size()) break;
      begins[token] = 1;
    }
    return document ? Result<>() : fail(document);
  }

 private:
  OpenFile file_;
  IdType type_;
  uint64_t begin_;  // of the numbers in the file
  int64_t tokens_, vocab_size_;
  std::optional<DocumentIndex> index_;
};

struct Numbers {
  IdType type;
  uint64_t begin = 0;
  int64_t count = 0;
};

/// What the header of a .npy says. Source: NumPy's format 1.0 to 3.0.
Result<Numbers> read_npy_header(const OpenFile& file) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr size_t kMostHeader = 1 << 16;
  std::array<char, 12> start{};
  if (auto read = file.read(start.data(), start.size(), 0); !read) return fail(read);
  if (std::string_view(start.data(), kMagic.size()) != kMagic)
    return fail("{}: is no .npy file", file.path());
  const bool wide = start[6] > 1;
  uint32_t length = 0;
  std::memcpy(&length, start.data() + 8, wide ? 4 : 2);
  const uint64_t begin = (wide ? 12U : 10U) + length;
  std::string header(std::min<size_t>(length, kMostHeader), '\0');
  if (auto read = file.read(header.data(), header.size(), wide ? 12 : 10); !read) return fail(read);
  static const std::regex kType("'descr': *'([^']*)'"), kShape("'shape': *\\(([0-9]+),\\)"),
      kAnyShape("'shape': *(\\([^)]*\\))");
  std::smatch type, shape;
  const bool typed = std::regex_search(header, type, kType);
  const std::string name = typed ? type[1].str() : "";
  const std::optional<IdType> known = name == "<u2"   ? std::optional(IdType::u16)
                                      : name == "<u4" ? std::optional(IdType::u32)
                                      : name == "<i4" ? std::optional(IdType::i32)
                                      : name == "<i8" ? std::optional(IdType::i64)
                                                      : std::nullopt;
  if (!known)
    return fail("{}: holds numbers of type \"{}\"; valid: uint16, uint32, int32, int64",
                file.path(), name);
  if (!std::regex_search(header, shape, kShape)) {
    std::smatch any;
    return fail("{}: has the shape {}; valid: one dimension", file.path(),
                std::regex_search(header, any, kAnyShape) ? any[1].str() : "?");
  }
  return Numbers{*known, begin, std::stoll(shape[1].str().substr(0, 18))};
}

struct Megatron {
  IdType type;
  DocumentIndex documents;
};

/// Megatron-LM's index of a .bin: magic, version, type, counts; then each sequence's length (32
/// bits) and place (64 bits). Source: megatron/core/datasets/indexed_dataset.py.
Result<Megatron> read_megatron_index(const std::string& path) {
  constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
  constexpr uint64_t kHeader = 34;
  OpenFile file(path);
  const auto size = file.size();
  if (!size)
    return fail(
        "{}; Megatron's .bin needs its .idx beside it (numbers alone are named .u16 or .u32)",
        size.error().message);
  std::array<char, kHeader> header{};
  if (auto read = file.read(header.data(), header.size(), 0); !read) return fail(read);
  if (std::string_view(header.data(), kMagic.size()) != kMagic)
    return fail("{}: is no index of Megatron's", path);
  uint64_t sequences = 0;
  std::memcpy(&sequences, header.data() + 18, sizeof(sequences));
  const auto code = static_cast<unsigned char>(header[17]);
  const std::optional<IdType> type = code == 8   ? std::optional(IdType::u16)
                                     : code == 4 ? std::optional(IdType::i32)
                                     : code == 5 ? std::optional(IdType::i64)
                                                 : std::nullopt;
  if (!type)
    return fail(
        "{}: its numbers are of Megatron's type {}; valid: 8 (uint16), 4 (int32), 5 (int64)", path,
        code);
  if (sequences > *size / 12 || kHeader + sequences * 12 > *size)
    return fail("{}: is cut short: {} sequences do not fit its {} bytes", path, sequences, *size);
  return Megatron{*type, {std::move(file), kHeader + sequences * 4, sequences}};
}

}  // namespace

bool is_token_file(const std::string& path) {
  const std::string extension = fs::path(path).extension();
  return extension == ".npy" || extension == ".bin" || extension == ".u16" || extension == ".u32";
}

bool knows_documents(const std::string& path) { return fs::path(path).extension() == ".bin"; }

Result<std::unique_ptr<TokenSource>> open_token_file(const std::string& path, int64_t vocab_size) {
  const auto named = [](const Error& error) { return fail("data.token_ids: {}", error.message); };
  OpenFile file(path);
  const auto size = file.size();
  if (!size) return named(size.error());
  const std::string extension = fs::path(path).extension();
  Numbers numbers{extension == ".u16" ? IdType::u16 : IdType::u32};
  std::optional<DocumentIndex> index;
  if (extension == ".npy") {
    const auto header = read_npy_header(file);
    if (!header) return named(header.error());
    numbers = *header;
  } else if (extension == ".bin") {
    auto megatron = read_megatron_index(fs::path(path).replace_extension(".idx"));
    if (!megatron) return named(megatron.error());
    numbers.type = megatron->type;
    index.emplace(std::move(megatron->documents));
  }
  const uint64_t each = bytes_of(numbers.type);
  if (extension != ".npy") {
    if (*size % each != 0)
      return named(
          {fmt::format("{}: {} bytes are no whole numbers of {} bytes", path, *size, each)});
    numbers.count = static_cast<int64_t>(*size / each);
  } else if (*size < numbers.begin + static_cast<uint64_t>(numbers.count) * each) {
    return named({fmt::format("{}: is cut short: {} numbers do not fit its {} bytes", path,
                              numbers.count, *size)});
  }
  return std::make_unique<NumberFile>(std::move(file), numbers.type, numbers.begin, numbers.count,
                                      vocab_size, std::move(index));
}

}  // namespace heddle::data
