#include "engine/data/byte_stream.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "base/plain_file.h"
#include "engine/data/json_list.h"
#include "engine/data/packed_streams.h"
#include "engine/data/parquet_rows.h"

namespace heddle::data {
namespace {

class PlainStream : public ByteStream {
 public:
  explicit PlainStream(PlainFile file) : file_(std::move(file)) {
    posix_fadvise(file_.fd(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  Result<bool> read(std::string& bytes, size_t most) override {
    const auto piece = file_.read(most);
    if (!piece) return fail(piece);
    bytes += *piece;
    at_ += piece->size();
    return !piece->empty();
  }

  Result<> skip(uint64_t count) override {
    file_.skip_to(at_ += count);
    return {};
  }

 private:
  PlainFile file_;
  uint64_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> ByteStream::open(const SourceFile& file,
                                                     const std::string& field) {
  const std::string& path = file.path;
  if (file.format.kind == TextKind::parquet) return rows_as_lines(path, field);
  auto opened = PlainFile::open_existing(path);
  if (!opened) return fail(opened);
  std::unique_ptr<ByteStream> stream = std::make_unique<PlainStream>(std::move(*opened));
  if (file.format.packing == Packing::gzip) stream = gunzipped(std::move(stream), path);
  if (file.format.packing == Packing::zstd) stream = unzstd(std::move(stream), path);
  if (file.format.kind == TextKind::json) stream = elements_as_lines(std::move(stream), path);
  return stream;
}

Result<> ByteStream::skip(uint64_t count) {
  constexpr size_t kAtOnce = size_t{1} << 20;
  for (std::string bytes; count > 0; count -= bytes.size()) {
    bytes.clear();
    auto more = read(bytes, static_cast<size_t>(std::min<uint64_t>(count, kAtOnce)));
    if (!more) return fail(more);
    if (!*more) return {};
  }
  return {};
}

}  // namespace heddle::data
