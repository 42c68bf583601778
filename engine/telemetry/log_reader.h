// A telemetry log's bytes to frames: a pure incremental parser, no I/O. Used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "engine/telemetry/record.h"

namespace heddle::telemetry {

/// One whole record as the log has it: its bytes are [offset, offset + bytes).
struct Frame {
  uint64_t seq = 0;
  Type type = Type::log;  // may be a number this build does not know
  uint64_t offset = 0;
  uint64_t bytes = 0;     // header and payload
  uint64_t checksum = 0;  // of the payload, as in the header
  std::string payload;    // CBOR

  Result<Record> record() const { return decode(type, payload); }
};

/// Bytes of the log that are no record: damage, or the torn tail of a log that has ended.
struct Gap {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::string reason;
};

using Event = std::variant<Frame, Gap>;

/// Feed bytes as they come, take events until there is none. A record cut off at the end of what
/// was fed means "more bytes needed". At damage the reader goes on at the next valid frame and then
/// reports the bytes between as one Gap.
class LogReader {
 public:
  /// `offset`: where in the log the first byte fed comes from; any offset will do.
  explicit LogReader(uint64_t offset = 0) : base_(offset), gap_start_(offset) {}

  void feed(std::string_view bytes);

  /// No more bytes will come: an incomplete rest is searched for whole records, and
  /// any other bytes are reported as a Gap.
  void finish() { finished_ = true; }

  std::optional<Event> next();

  /// Everything before this offset has been returned as a Frame or a Gap: resume here.
  uint64_t consumed() const { return in_gap_ ? gap_start_ : base_ + position_; }

  /// The offset of the next byte to feed.
  uint64_t end() const { return base_ + buffer_.size(); }

 private:
  std::optional<Event> close_gap(uint64_t until);
  void skip_to_magic(std::string reason, size_t bytes = 1);

  std::string buffer_;   // the log's bytes from base_ on
  uint64_t base_ = 0;    // offset of buffer_[0]
  size_t position_ = 0;  // parsed up to here in buffer_
  bool in_gap_ = false;  // searching for the next valid frame since gap_start_
  uint64_t gap_start_ = 0;
  std::string gap_reason_;
  uint64_t in_vain_ = 0;  // bytes of which sums were made in this gap
  bool finished_ = false;
};

}  // namespace heddle::telemetry
