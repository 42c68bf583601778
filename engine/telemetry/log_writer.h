// Appends records to one telemetry log. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "engine/telemetry/record.h"

namespace heddle::telemetry {

class LogWriter {
 public:
  /// Opens or creates the log for appending (mode 0600). In a log that has records already, the
  /// sequence numbers go on after the last whole one. Bytes once written are never changed.
  static Result<LogWriter> open(const std::string& path);

  LogWriter(LogWriter&& other) noexcept;
  LogWriter& operator=(LogWriter&& other) noexcept;
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  ~LogWriter();

  /// Appends one record with one write(). An error (a full disk) names the log and the cause; the
  /// writer stays usable: a record of which only a part was written is completed by the next
  /// append, one of which nothing was written is dropped and its number used again.
  Result<> append(const Record& record);

  /// From now on a full disk is no error: a record that finds no room is dropped, the log says once
  /// that it is so, and with the next record that fits how many are missing. Room for the End is
  /// kept at all times (where the file system can do that).
  void outlive_full_disk();

  /// Waits until all that was appended is on the disk.
  Result<> sync();

  uint64_t next_seq() const { return next_seq_; }
  /// The last step that the log had when it was opened; 0: none.
  int64_t last_step() const { return last_step_; }
  const std::string& path() const { return path_; }

 private:
  LogWriter(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
  uint64_t next_seq_ = 0;
  int64_t last_step_ = 0;
  std::string unwritten_;  // the rest of a record that did not fit

  Result<> read_earlier();
  Result<> write(const std::string& bytes);
  Result<> tell(const std::string& text);
  bool keep_room(int64_t bytes);

  bool outlives_ = false;
  int64_t size_ = 0;      // of the file
  int64_t reserved_ = 0;  // the file's room on the disk
  int64_t dropped_ = 0, told_ = 0;
};

}  // namespace heddle::telemetry
