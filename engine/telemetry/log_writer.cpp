#include "engine/telemetry/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/telemetry/log_reader.h"

namespace heddle::telemetry {
namespace {

ssize_t write_once(int fd, std::string_view bytes) {
  ssize_t written = 0;
  do {
    written = write(fd, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  return written;
}

Result<uint64_t> next_seq_in(const std::string& path, int fd) {
  LogReader reader;
  uint64_t next_seq = 0;
  std::array<char, 1 << 16> buffer;
  for (off_t offset = 0;;) {
    const ssize_t count = pread(fd, buffer.data(), buffer.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail("{}: cannot read: {}", path, std::strerror(errno));
    if (count == 0) reader.finish();
    reader.feed({buffer.data(), static_cast<size_t>(count)});
    offset += count;
    while (const auto event = reader.next()) {
      if (const auto* frame = std::get_if<Frame>(&*event)) next_seq = frame->seq + 1;
    }
    if (count == 0) return next_seq;
  }
}

}  // namespace

LogWriter::LogWriter(std::string path, int fd, uint64_t next_seq)
    : path_(std::move(path)), fd_(fd), next_seq_(next_seq) {}

LogWriter::LogWriter(LogWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      next_seq_(other.next_seq_),
      unwritten_(std::move(other.unwritten_)) {}

LogWriter& LogWriter::operator=(LogWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(next_seq_, other.next_seq_);
  std::swap(unwritten_, other.unwritten_);
  return *this;
}

LogWriter::~LogWriter() {
  if (fd_ >= 0) close(fd_);
}

Result<LogWriter> LogWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return fail("{}: cannot open the telemetry log: {}", path, std::strerror(errno));
  LogWriter writer(path, fd, 0);
  const Result<uint64_t> next_seq = next_seq_in(path, fd);
  if (!next_seq) return fail(next_seq);
  writer.next_seq_ = *next_seq;
  return writer;
}

Result<> LogWriter::append(const Record& record) {
  Result<std::string> bytes = encode(record, next_seq_);
  if (!bytes) return fail("{}: {}", path_, bytes.error().message);
  const size_t owed = unwritten_.size();
  std::string pending = std::exchange(unwritten_, {}) + *bytes;
  const ssize_t written = write_once(fd_, pending);
  const int error = written < 0 ? errno : ENOSPC;
  const size_t done = written < 0 ? 0 : static_cast<size_t>(written);
  if (done > owed) ++next_seq_;
  if (done == pending.size()) return {};
  // Up to the end of the record that has begun; a record not begun is dropped.
  unwritten_ = done > owed ? pending.substr(done) : pending.substr(done, owed - done);
  return fail("{}: cannot write telemetry: {}", path_, std::strerror(error));
}

Result<> LogWriter::sync() {
  if (fdatasync(fd_) != 0) return fail("{}: cannot sync: {}", path_, std::strerror(errno));
  return {};
}

}  // namespace heddle::telemetry
