#include "engine/telemetry/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/telemetry/log_reader.h"

namespace heddle::telemetry {
namespace {

constexpr int64_t kEndRoom = 16384;
constexpr int64_t kLineRoom = 512;
constexpr int64_t kStretch = 65536;

bool is_full(int error) { return error == ENOSPC || error == EDQUOT; }

ssize_t write_once(int fd, std::string_view bytes) {
  ssize_t written = 0;
  do {
    written = ::write(fd, bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  return written;
}

}  // namespace

LogWriter::LogWriter(LogWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      next_seq_(other.next_seq_),
      last_step_(other.last_step_),
      unwritten_(std::move(other.unwritten_)),
      outlives_(other.outlives_),
      size_(other.size_),
      reserved_(other.reserved_),
      dropped_(other.dropped_),
      told_(other.told_) {}

LogWriter& LogWriter::operator=(LogWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(next_seq_, other.next_seq_);
  std::swap(last_step_, other.last_step_);
  std::swap(unwritten_, other.unwritten_);
  std::swap(outlives_, other.outlives_);
  std::swap(size_, other.size_);
  std::swap(reserved_, other.reserved_);
  std::swap(dropped_, other.dropped_);
  std::swap(told_, other.told_);
  return *this;
}

LogWriter::~LogWriter() {
  if (fd_ < 0) return;
  // Gives back room that was kept and not used.
  if (reserved_ > 0) [[maybe_unused]]
    const int ignored = ftruncate(fd_, lseek(fd_, 0, SEEK_END));
  close(fd_);
}

Result<LogWriter> LogWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return fail("{}: cannot open the telemetry log: {}", path, std::strerror(errno));
  LogWriter writer(path, fd);
  if (const Result<> read = writer.read_earlier(); !read) return fail(read);
  return writer;
}

// Where the records that are there already end.
Result<> LogWriter::read_earlier() {
  LogReader reader;
  std::optional<Frame> last;  // with a step
  std::array<char, 1 << 16> buffer;
  ssize_t count = 0;
  for (off_t offset = 0;; offset += count) {
    do {
      count = pread(fd_, buffer.data(), buffer.size(), offset);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return fail("{}: cannot read: {}", path_, std::strerror(errno));
    if (count == 0) reader.finish();
    reader.feed({buffer.data(), static_cast<size_t>(count)});
    while (auto event = reader.next()) {
      auto* frame = std::get_if<Frame>(&*event);
      if (!frame) continue;
      next_seq_ = frame->seq + 1;
      if (frame->type == Type::step) last = std::move(*frame);
    }
    if (count == 0) break;
  }
  const auto record = last ? last->record() : Result<Record>(Record(Step{}));
  if (record) last_step_ = std::get<Step>(*record).step;
  return {};
}

void LogWriter::outlive_full_disk() {
  outlives_ = true;
  size_ = lseek(fd_, 0, SEEK_END);
  keep_room(0);
}

// Whether `bytes` more can be written and the room for an End is still there afterwards.
bool LogWriter::keep_room(int64_t bytes) {
  const int64_t needed = size_ + bytes + kEndRoom;
  if (needed <= reserved_) return true;
  // A stretch ahead, so that not every record asks; else what is needed.
  for (const int64_t until : {needed + kStretch, needed}) {
    if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, size_, until - size_) == 0) {
      reserved_ = until;
      return true;
    }
    if (!is_full(errno)) return true;  // this file system cannot say beforehand
  }
  return false;
}

Result<> LogWriter::append(const Record& record) {
  Result<std::string> bytes = encode(record, next_seq_);
  if (!bytes) return fail("{}: {}", path_, bytes.error().message);
  if (!outlives_) return write(*bytes);
  const bool end = std::holds_alternative<End>(record);
  const bool dropping = dropped_ > told_;
  // Not taken up again for the sake of a single record.
  const int64_t asked = static_cast<int64_t>(bytes->size()) + (dropping ? kStretch : kLineRoom);
  if (!end && !keep_room(asked)) {
    // The first time there is room for this line, which is the End's else.
    if (dropped_++ == 0)
      return tell("the disk is full: training goes on, and its log is dropped until there is room");
    return {};
  }
  if (!dropping) return write(*bytes);
  const int64_t missing = dropped_ - std::exchange(told_, dropped_);
  const auto told =
      tell(fmt::format("the disk was full: records missing before this: {}", missing));
  bytes = encode(record, next_seq_);
  return told && bytes ? write(*bytes) : told;
}

Result<> LogWriter::tell(const std::string& text) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const Result<std::string> bytes = encode(Log{now, Level::warning, text}, next_seq_);
  return bytes ? write(*bytes) : fail(bytes);
}

Result<> LogWriter::write(const std::string& bytes) {
  const size_t owed = unwritten_.size();
  std::string pending = std::exchange(unwritten_, {}) + bytes;
  const ssize_t written = write_once(fd_, pending);
  const int error = written < 0 ? errno : ENOSPC;
  const size_t done = written < 0 ? 0 : static_cast<size_t>(written);
  if (done > owed) ++next_seq_;
  size_ += static_cast<int64_t>(done);
  if (done == pending.size()) return {};
  // Up to the end of the record that has begun; a record not begun is dropped.
  unwritten_ = done > owed ? pending.substr(done) : pending.substr(done, owed - done);
  if (outlives_ && is_full(error)) {
    if (done <= owed) ++dropped_;
    return {};
  }
  return fail("{}: cannot write telemetry: {}", path_, std::strerror(error));
}

Result<> LogWriter::sync() {
  if (fdatasync(fd_) != 0) return fail("{}: cannot sync: {}", path_, std::strerror(errno));
  return {};
}

}  // namespace heddle::telemetry
