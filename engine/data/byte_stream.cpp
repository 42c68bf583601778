#include "engine/data/byte_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/data/json_list.h"
#include "engine/data/packed_streams.h"
#include "engine/data/parquet_rows.h"

namespace heddle::data {
namespace {

class PlainStream : public ByteStream {
 public:
  PlainStream(std::string path, int fd) : path_(std::move(path)), fd_(fd) {
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  PlainStream(const PlainStream&) = delete;
  PlainStream& operator=(const PlainStream&) = delete;
  ~PlainStream() override { close(fd_); }

  Result<bool> read(std::string& bytes, size_t most) override {
    const size_t before = bytes.size();
    bytes.resize(before + most);
    ssize_t count = -1;
    do count = ::read(fd_, bytes.data() + before, most);
    while (count < 0 && errno == EINTR);
    bytes.resize(before + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0) return fail("{}: cannot be read: {}", path_, std::strerror(errno));
    return count > 0;
  }

  Result<> skip(uint64_t count) override {
    if (lseek(fd_, static_cast<off_t>(count), SEEK_CUR) < 0)
      return fail("{}: cannot be read: {}", path_, std::strerror(errno));
    return {};
  }

 private:
  std::string path_;
  int fd_;
};

}  // namespace

Result<std::unique_ptr<ByteStream>> ByteStream::open(const SourceFile& file,
                                                     const std::string& field) {
  const std::string& path = file.path;
  if (file.format.kind == TextKind::parquet) return rows_as_lines(path, field);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("{}: cannot be opened: {}", path, std::strerror(errno));
  std::unique_ptr<ByteStream> stream = std::make_unique<PlainStream>(path, fd);
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
