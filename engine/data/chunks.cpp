#include "engine/data/chunks.h"

#include <algorithm>

namespace heddle::data {
namespace {

constexpr size_t kChunk = size_t{1} << 20;
constexpr size_t kChunkReadAtOnce = size_t{1} << 18;
constexpr size_t kBehindCut = size_t{1} << 12;  // what is seen of the text behind a cut
constexpr int kTries = 8;                       // of each kind of place

bool is_line_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

Result<> ChunkReader::open() {
  auto stream = ByteStream::open(files_[place_.file], field_);
  if (!stream) return fail(stream);
  stream_ = std::move(*stream);
  at_end_ = false;
  buffer_.clear();
  return {};
}

Result<> ChunkReader::go_to(const ChunkPlace& place) {
  stream_.reset();
  place_ = place;
  if (place_.file >= files_.size()) return {};
  if (auto opened = open(); !opened) return opened;
  return stream_->skip(place_.offset);
}

Result<> ChunkReader::close() {
  stream_.reset();
  const SourceFile& file = files_[place_.file];
  const auto now = look_at(file.path);
  if (!now || *now != file)
    return fail("{}: has changed since it was first looked at; start again, and it is read again",
                file.path);
  place_ = {place_.file + 1, 0, 1};
  return {};
}

/// Reads until the buffer holds so many bytes, or all.
Result<> ChunkReader::fill(size_t wanted) {
  while (!at_end_ && buffer_.size() < wanted) {
    const auto more = stream_->read(buffer_, kChunkReadAtOnce);
    if (!more) return fail(more);
    at_end_ = !*more;
  }
  return {};
}

/// A place between the two where the text may be cut, near the higher one: where a line begins, or
/// a word.
std::optional<size_t> ChunkReader::cut_below(size_t low, size_t high) const {
  if (!may_cut_) return std::nullopt;
  for (const bool lines : {true, false}) {
    int tries = 0;
    for (size_t at = high; at > low && tries < kTries; --at) {
      const char before = buffer_[at - 1], behind = buffer_[at];
      const bool here =
          lines ? before == '\n' && !is_line_space(behind)
                : behind == ' ' && !is_line_space(before) && !is_line_space(buffer_[at + 1]);
      if (!here) continue;
      ++tries;
      if (may_cut_(buffer_, at)) return at;
    }
  }
  return std::nullopt;
}

Result<size_t> ChunkReader::end_of_text() {
  for (size_t wanted = kChunk;; wanted += kChunk) {
    if (auto filled = fill(wanted + kBehindCut); !filled) return fail(filled);
    if (buffer_.size() < wanted + kBehindCut) return buffer_.size();
    if (const auto cut = cut_below(wanted - kChunk / 2, wanted)) return *cut;
    if (buffer_.size() > kMaxDocument)
      return fail(
          "{}: {} bytes from byte {} on without a place where the text may be cut, such as the end "
          "of a line or a word; valid: text with less than that between such places",
          files_[place_.file].path, kMaxDocument, place_.offset);
  }
}

Result<size_t> ChunkReader::end_of_lines() {
  for (size_t wanted = kChunk;; wanted += kChunk) {
    if (auto filled = fill(wanted); !filled) return fail(filled);
    if (at_end_) return buffer_.size();
    if (const size_t end = buffer_.rfind('\n'); end != std::string::npos) return end + 1;
    if (buffer_.size() > kMaxDocument)
      return fail("{}:{}: a line of more than {} bytes", files_[place_.file].path, place_.line,
                  kMaxDocument);
  }
}

Result<std::optional<Chunk>> ChunkReader::next() {
  while (place_.file < files_.size()) {
    const SourceFile& file = files_[place_.file];
    const bool plain = file.format.kind == TextKind::plain;
    if (!stream_)
      if (auto opened = open(); !opened) return fail(opened);
    const auto end = plain ? end_of_text() : end_of_lines();
    if (!end) return fail(end);
    Chunk chunk{place_, &file, buffer_.substr(0, *end), place_.offset == 0, true};
    buffer_.erase(0, *end);
    chunk.ends = at_end_ && buffer_.empty();
    place_.offset += *end;
    if (!plain) place_.line += static_cast<uint64_t>(std::ranges::count(chunk.bytes, '\n'));
    if (chunk.ends)
      if (auto closed = close(); !closed) return fail(closed);
    // An empty text is a document, too.
    if (plain || !chunk.bytes.empty()) return chunk;
  }
  return std::nullopt;
}

}  // namespace heddle::data
