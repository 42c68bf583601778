#include "engine/data/first_part.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/data/chunk_tokens.h"
#include "engine/data/packed_streams.h"
#include "engine/data/parquet_rows.h"
#include "engine/data/text_encoding.h"

namespace heddle::data {
namespace {

constexpr uint64_t kEnough = uint64_t{3} << 20;  // bytes of text, to guess by
constexpr uint64_t kMax = uint64_t{64} << 20;
constexpr size_t kPacked = size_t{1} << 20;  // bytes of a packed file, to see how far it unpacks

/// Tells how many bytes have been read through it.
class Counted : public ByteStream {
 public:
  Counted(std::unique_ptr<ByteStream> inner, uint64_t& count)
      : inner_(std::move(inner)), count_(count) {}
  Result<bool> read(std::string& bytes, size_t most) override {
    const size_t before = bytes.size();
    auto more = inner_->read(bytes, most);
    count_ += bytes.size() - before;
    return more;
  }

 private:
  std::unique_ptr<ByteStream> inner_;
  uint64_t& count_;
};

/// Bytes of text in a byte of a packed file.
Result<double> unpacking(SourceFile file) {
  const Packing packing = std::exchange(file.format, {}).packing;
  auto stream = ByteStream::open(file, "");
  if (!stream) return fail(stream);
  uint64_t packed = 0;
  auto counted = std::make_unique<Counted>(std::move(*stream), packed);
  auto text = packing == Packing::gzip ? gunzipped(std::move(counted), file.path)
                                       : unzstd(std::move(counted), file.path);
  // More is read when all that was read before has been unpacked.
  uint64_t unpacked = 0, of = 0;
  for (std::string bytes; of < kPacked && unpacked < kMax;) {
    const uint64_t before = packed;
    bytes.clear();
    const auto more = text->read(bytes, kPacked);
    if (!more) return fail(more);
    if (packed != before || !*more) of = before;
    if (of >= kPacked || !*more) break;
    unpacked += bytes.size();
  }
  if (unpacked >= kMax) of = packed;
  return of == 0 ? 1 : static_cast<double>(unpacked) / static_cast<double>(of);
}

/// The same of Parquet, as lines: its first rows, and how many it says it has.
Result<double> unpacking_of_rows(const SourceFile& file, const std::string& column) {
  const auto rows = count_rows(file.path, column);
  if (!rows) return fail(rows);
  auto lines = ByteStream::open(file, column);
  if (!lines) return fail(lines);
  std::string bytes;
  while (bytes.size() < kPacked) {
    const auto more = (*lines)->read(bytes, kPacked);
    if (!more) return fail(more);
    if (!*more) break;
  }
  const auto read = std::ranges::count(bytes, '\n');
  if (read == 0 || file.size == 0) return 0;
  return static_cast<double>(bytes.size()) / static_cast<double>(read) *
         static_cast<double>(*rows) / static_cast<double>(file.size);
}

/// Files that are documents of their own, as far as they are wanted.
int64_t plain_files(const StoreOrigin& origin) {
  return std::ranges::count_if(origin.files, [&](const SourceFile& file) {
    return file.format.kind == TextKind::plain &&
           origin.choice.takes(std::filesystem::path(file.path).filename().string());
  });
}

/// Bytes of text in all files, packed ones unpacked as the first of their format.
Result<double> bytes_of_text(const StoreOrigin& origin) {
  double bytes = 0;
  std::vector<std::pair<TextFormat, double>> known;
  for (const SourceFile& file : origin.files) {
    const auto size = static_cast<double>(file.size);
    const bool rows = file.format.kind == TextKind::parquet;
    if (!rows && file.format.packing == Packing::none) {
      bytes += size;
      continue;
    }
    auto found = std::ranges::find(known, file.format, &std::pair<TextFormat, double>::first);
    if (found == known.end()) {
      const auto times = rows ? unpacking_of_rows(file, origin.choice.field) : unpacking(file);
      if (!times) return fail(times);
      found = known.insert(known.end(), {file.format, *times});
    }
    bytes += found->second * size;
  }
  return bytes;
}

}  // namespace

Result<FirstPart> read_first_part(const StoreOrigin& origin, int64_t tokens) {
  const auto at_key = [](const Error& error) { return fail("data.text: {}", error.message); };
  if (auto readable = check_encodings(origin.files); !readable) return at_key(readable.error());
  auto tokenizer = load_tokenizer(origin.tokenizer);
  if (!tokenizer) return fail(tokenizer);
  ChunkReader reader(origin.files, origin.choice.field, [&](std::string_view text, size_t at) {
    return parts_at(text, at, *tokenizer);
  });
  FirstPart part;
  uint64_t read = 0;
  int64_t begun = 0, begun_in_lines = 0;
  while (read < kMax && (read < kEnough || static_cast<int64_t>(part.ids.size()) < tokens)) {
    const auto chunk = reader.next();
    if (!chunk) return at_key(chunk.error());
    part.all = !*chunk;
    if (part.all) break;
    read += (*chunk)->bytes.size();
    auto made = tokens_of(**chunk, origin.choice, *tokenizer);
    if (!made) return at_key(made.error());
    for (const uint64_t begin : made->begins) part.begins.push_back(part.ids.size() + begin);
    part.ids.insert(part.ids.end(), made->ids.begin(), made->ids.end());
    part.complaints.insert(part.complaints.end(), made->complaints.begin(), made->complaints.end());
    begun += made->documents;
    if ((*chunk)->file->format.kind != TextKind::plain) begun_in_lines += made->documents;
  }
  part.all = part.all || reader.place().file >= origin.files.size();
  const int64_t most = origin.choice.most;
  if (most > 0 && begun > most && part.begins.size() > static_cast<size_t>(most)) {
    part.ids.resize(part.begins[static_cast<size_t>(most)]);
    part.begins.resize(static_cast<size_t>(most));
    begun = most;
    part.all = true;
  }
  part.tokens = static_cast<int64_t>(part.ids.size());
  part.documents = begun;
  if (part.all || read == 0) return part;
  const auto bytes = bytes_of_text(origin);
  if (!bytes) return at_key(bytes.error());
  const double times = std::max(1.0, *bytes / static_cast<double>(read));
  const auto guessed = [&](int64_t seen) {
    return std::llround(static_cast<double>(seen) * times);
  };
  part.tokens = guessed(part.tokens);
  part.documents = plain_files(origin) + guessed(begun_in_lines);
  if (most > 0 && part.documents > most) {
    part.tokens = std::llround(static_cast<double>(part.tokens) * static_cast<double>(most) /
                               static_cast<double>(part.documents));
    part.documents = most;
  }
  return part;
}

}  // namespace heddle::data
