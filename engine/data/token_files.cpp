#include "engine/data/token_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "engine/data/megatron_index.h"
#include "engine/data/npy_header.h"
#include "engine/data/stored_ids.h"

namespace heddle::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPieceIds = size_t{1} << 16;
constexpr int64_t kMaxPieces = 2048;  // that are looked at ahead: 256 MiB of 16 bits

class NumberFile : public TokenSource {
 public:
  NumberFile(PlainFile file, StoredIds ids, int64_t vocab_size, std::optional<MegatronIndex> index)
      : file_(std::move(file)), ids_(ids), vocab_size_(vocab_size), index_(std::move(index)) {}

  Result<Known> await(int64_t) override { return Known{ids_.count, true}; }

  Result<> read(int64_t at, std::span<int64_t> ids, std::span<uint8_t> begins) const override {
    const uint64_t place = ids_.begin + static_cast<uint64_t>(at) * bytes_of(ids_.type);
    if (auto read = read_ids(file_, ids_.type, place, ids); !read) return read;
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] < 0 || ids[i] >= vocab_size_)
        return fail("data.token_ids: {}: holds {} (token {}); valid: 0 to {}", file_.path(), ids[i],
                    at + static_cast<int64_t>(i), vocab_size_ - 1);
    std::ranges::fill(begins, 0);
    return index_ ? index_->flag_begins(at, begins) : Result<>();
  }

 private:
  PlainFile file_;
  StoredIds ids_;
  int64_t vocab_size_;
  std::optional<MegatronIndex> index_;
};

/// llm.c's files begin with 256 numbers of 32 bits: a magic number, a version and how many ids
/// follow. Source: llm.c, dev/data/data_common.py.
struct LlmcHeader {
  static constexpr uint64_t kBytes = 1024;
  static constexpr uint32_t kGpt2 = 20240520, kLlama3 = 20240801;

  std::array<uint32_t, 3> start{};
  bool is_there() const { return start[0] == kGpt2 || start[0] == kLlama3; }
  StoredIds ids() const {
    return {start[0] == kGpt2 ? IdType::u16 : IdType::u32, kBytes, int64_t{start[2]}};
  }
};

LlmcHeader llmc_header(const PlainFile& file) {
  LlmcHeader header;
  if (file.size() >= LlmcHeader::kBytes)
    if (!file.read_at(header.start.data(), sizeof(header.start), 0)) return {};
  return header;
}

Result<StoredIds> llmc_ids(const PlainFile& file) {
  const LlmcHeader header = llmc_header(file);
  if (!header.is_there())
    return fail(
        "{}: neither Megatron's .bin, whose .idx is next to it, nor llm.c's, which has a header; "
        "numbers alone are named .u16 or .u32",
        file.path());
  const StoredIds ids = header.ids();
  const uint64_t needed = ids.begin + static_cast<uint64_t>(ids.count) * bytes_of(ids.type);
  if (needed == file.size()) return ids;
  return fail("{}: has {} bytes, but llm.c's header names {} ids of {} bytes: {} in all",
              file.path(), file.size(), ids.count, bytes_of(ids.type), needed);
}

Result<StoredIds> bare_ids(const PlainFile& file, IdType type) {
  if (llmc_header(file).is_there())
    return fail("{}: has llm.c's header, which is no ids; valid: the same file named .bin",
                file.path());
  const uint64_t each = bytes_of(type);
  if (file.size() % each != 0)
    return fail("{}: {} bytes are no whole numbers of {} bytes", file.path(), file.size(), each);
  return StoredIds{type, 0, static_cast<int64_t>(file.size() / each)};
}

std::string index_of(const std::string& path) {
  return fs::path(path).replace_extension(".idx").string();
}

Result<std::unique_ptr<TokenSource>> open_numbers(const std::string& path, int64_t vocab_size) {
  auto file = PlainFile::open_existing(path);
  if (!file) return fail(file);
  const std::string extension = fs::path(path).extension();
  std::optional<MegatronIndex> index;
  auto ids = [&]() -> Result<StoredIds> {
    if (extension == ".npy") return read_npy_header(*file);
    if (!knows_documents(path))
      return extension == ".bin"   ? llmc_ids(*file)
             : extension == ".u16" ? bare_ids(*file, IdType::u16)
                                   : bare_ids(*file, IdType::u32);
    auto opened = MegatronIndex::open(index_of(path), file->size());
    if (!opened) return fail(opened);
    index.emplace(std::move(*opened));
    return bare_ids(*file, index->type());
  }();
  if (!ids) return fail(ids);
  return std::make_unique<NumberFile>(std::move(*file), *ids, vocab_size, std::move(index));
}

}  // namespace

bool is_token_file(const std::string& path) {
  const std::string extension = fs::path(path).extension();
  return extension == ".npy" || extension == ".bin" || extension == ".u16" || extension == ".u32";
}

bool knows_documents(const std::string& path) {
  std::error_code unknown;
  return fs::path(path).extension() == ".bin" && fs::exists(index_of(path), unknown);
}

Result<std::unique_ptr<TokenSource>> open_token_file(const std::string& path, int64_t vocab_size) {
  auto opened = open_numbers(path, vocab_size);
  if (!opened) return fail("data.token_ids: {}", opened.error().message);
  return opened;
}

Result<> check_token_file(const std::string& path, int64_t vocab_size) {
  const auto file = open_token_file(path, vocab_size);
  if (!file) return fail(file);
  const auto known = (*file)->await(0);
  if (!known) return fail(known);
  const int64_t piece = kPieceIds, pieces = (known->tokens + piece - 1) / piece;
  std::vector<int64_t> ids(kPieceIds);
  std::vector<uint8_t> begins(kPieceIds);
  for (int64_t i = 0; i < std::min(pieces, kMaxPieces); ++i) {
    const int64_t first = (pieces <= kMaxPieces ? i : i * pieces / kMaxPieces) * piece;
    const auto count = static_cast<size_t>(std::min(piece, known->tokens - first));
    if (auto read =
            (*file)->read(first, std::span(ids).first(count), std::span(begins).first(count));
        !read)
      return read;
  }
  return {};
}

}  // namespace heddle::data
