#include "engine/checkpoint/reader.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/plain_file.h"
#include "base/read_file.h"
#include "engine/checkpoint/hash.h"
#include "engine/checkpoint/safetensors.h"

namespace heddle::checkpoint {

using holdings::Box;

namespace {

constexpr int64_t kNumberBytes = holdings::kStoredNumber;
constexpr int64_t kReadPiece = kHashedBytes / kNumberBytes;
constexpr size_t kMaxOpenFiles = 256;  // a process may often have 1,024

Box intersection(const Box& a, const Box& b) {
  return {std::max(a.row_begin, b.row_begin), std::min(a.row_end, b.row_end),
          std::max(a.column_begin, b.column_begin), std::min(a.column_end, b.column_end)};
}

bool is_empty(const Box& box) { return box.rows() <= 0 || box.columns() <= 0; }

}  // namespace

/// One file, its header verified.
class Checkpoint::File {
 public:
  File(std::string path, std::string host) : path_(std::move(path)), host_(std::move(host)) {}

  Result<> open(const StoredFile& stored) {
    auto file = PlainFile::open(path_, PlainFile::Links::follow);
    if (!file) return fail(file);
    if (!*file) return fail("{}: missing (it was written on host {})", path_, host_);
    if (!std::cmp_equal((*file)->size(), stored.bytes))
      return fail("{}: damaged: {} bytes, but it was written with {}", path_, (*file)->size(),
                  stored.bytes);
    file_.emplace(std::move(**file));
    std::string header(static_cast<size_t>(stored.header_bytes), '\0');
    if (auto done = file_->read_at(header.data(), header.size(), 0); !done) return done;
    if (hash_of(header) != stored.header_hash)
      return fail("{}: damaged: the hash of its header is not what was written", path_);
    return {};
  }

  /// Numbers that are read soon: the disk fetches them while others are hashed.
  void announce(const Shard& shard, int64_t begin, int64_t end) const {
    ::posix_fadvise(file_->fd(), shard.offset + begin * kNumberBytes, (end - begin) * kNumberBytes,
                    POSIX_FADV_WILLNEED);
  }

  /// The numbers [begin, end) of a shard that one hash is of.
  Result<> read_piece(const std::string& tensor, const Shard& shard, int64_t begin, int64_t end,
                      float* out) const {
    const int64_t offset = shard.offset + begin * kNumberBytes;
    const int64_t bytes = (end - begin) * kNumberBytes;
    if (auto done = file_->read_at(out, static_cast<size_t>(bytes), static_cast<uint64_t>(offset));
        !done)
      return done;
    const std::string found = hash_of(std::as_bytes(std::span(out, end - begin)));
    const std::string& expected = shard.hashes[static_cast<size_t>(begin / kReadPiece)];
    if (found != expected)
      return fail(
          "{}: damaged: bytes {} to {} (tensor \"{}\") have the hash {}, but {} was written", path_,
          offset, offset + bytes, tensor, found, expected);
    return {};
  }

 private:
  std::string path_;
  std::string host_;
  std::optional<PlainFile> file_;
};

bool is_checkpoint(const std::string& folder) {
  return std::filesystem::exists(folder + "/" + kManifest);
}

Result<Checkpoint> Checkpoint::open(const std::string& folder) {
  const std::string path = folder + "/" + kManifest;
  const auto text = read_file(path, kManifestBudget.bytes);
  if (!text) return fail("{}; valid: a checkpoint's folder, which has one", text.error().message);
  auto manifest = parse_manifest(*text);
  if (!manifest) return fail("{}: {}", path, manifest.error().message);
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  checkpoint.manifest_ = std::move(*manifest);
  checkpoint.files_ = std::make_shared<OpenFiles>();
  return checkpoint;
}

Result<> Checkpoint::check_format() const {
  if (manifest_.format <= kFormat) return {};
  return fail("{}/{}: format {}, which a newer Heddle has written; this one reads up to {}",
              folder_, kManifest, manifest_.format, kFormat);
}

Result<> Checkpoint::check_model(const recipe::Model& model) const {
  if (auto known = check_format(); !known) return known;
  const Result<> fits = check_fit(manifest_.recipe.model, model);
  return fits ? fits : fail("{}: {}", folder_, fits.error().message);
}

Result<> Checkpoint::check_resumable(const recipe::Recipe& recipe) const {
  if (auto fits = check_model(recipe.model); !fits) return fits;
  const Result<> fits = check_optimizer(manifest_.recipe.optimizer, recipe.optimizer);
  return fits ? fits : fail("{}: {}", folder_, fits.error().message);
}

Result<std::shared_ptr<const Checkpoint::File>> Checkpoint::file(const std::string& name) const {
  const std::lock_guard lock(files_->mutex);
  if (const auto found = files_->by_name.find(name); found != files_->by_name.end())
    return found->second;
  const StoredFile& stored = manifest_.contents.files.at(name);
  auto file = std::make_shared<File>(folder_ + "/" + name, stored.host);
  if (auto done = file->open(stored); !done) return fail(done);
  if (files_->by_name.size() >= kMaxOpenFiles) files_->by_name.clear();
  files_->by_name[name] = file;
  return file;
}

namespace {

/// Copies what belongs to `box` from numbers [begin, end) of a shard.
void copy_overlap(const Box& shard, int64_t begin, int64_t end, const float* numbers,
                  const Box& box, float* out) {
  const int64_t columns = shard.columns();
  for (int64_t row = begin / columns; row * columns < end; ++row) {
    const int64_t from = std::max(begin, row * columns);
    const int64_t until = std::min(end, (row + 1) * columns);
    const int64_t first = shard.column_begin - row * columns;  // + a number's place: its column
    const Box piece{shard.row_begin + row, shard.row_begin + row + 1, from + first, until + first};
    const Box both = intersection(piece, box);
    if (is_empty(both)) continue;
    std::copy_n(numbers + (both.column_begin - first - begin), both.columns(),
                out + (both.row_begin - box.row_begin) * box.columns() +
                    (both.column_begin - box.column_begin));
  }
}

}  // namespace

Result<> Checkpoint::read(const std::string& tensor, const Box& box, float* out) const {
  const auto stored = manifest_.contents.tensors.find(tensor);
  if (stored == manifest_.contents.tensors.end())
    return fail("{}/{}: no tensor \"{}\"", folder_, kManifest, tensor);
  std::unique_ptr<float[]> piece;
  for (const Shard& shard : stored->second.shards) {
    const Box both = intersection(shard.box, box);
    if (is_empty(both)) continue;
    const auto opened = file(shard.file);
    if (!opened) return fail(opened);
    const int64_t columns = shard.box.columns(), numbers = shard.box.rows() * columns;
    const int64_t first = (both.row_begin - shard.box.row_begin) * columns;
    const int64_t last = (both.row_end - shard.box.row_begin) * columns;
    const bool whole_rows = shard.box.column_begin == box.column_begin && columns == box.columns();
    for (int64_t begin = first / kReadPiece * kReadPiece; begin < last; begin += kReadPiece) {
      const int64_t end = std::min(begin + kReadPiece, numbers);
      if (end < last) (*opened)->announce(shard, end, std::min(end + kReadPiece, numbers));
      if (whole_rows && begin >= first && end <= last) {
        // Read to where it belongs, without a copy.
        float* to = out + ((shard.box.row_begin - box.row_begin) * columns + begin);
        if (auto done = (*opened)->read_piece(tensor, shard, begin, end, to); !done) return done;
        continue;
      }
      if (!piece) piece = std::make_unique_for_overwrite<float[]>(kReadPiece);
      if (auto done = (*opened)->read_piece(tensor, shard, begin, end, piece.get()); !done)
        return done;
      copy_overlap(shard.box, begin, end, piece.get(), box, out);
    }
  }
  return {};
}

}  // namespace heddle::checkpoint
