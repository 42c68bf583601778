#include "engine/telemetry/log_reader.h"

#include <utility>

#include "engine/telemetry/frame.h"

namespace heddle::telemetry {
namespace {

// Headers within a damaged record may each ask for the sum of all that follows: after so many bytes
// in vain a record that is none is passed over as a whole.
constexpr uint64_t kMaxInVain = uint64_t{1} << 30;

}  // namespace

void LogReader::feed(std::string_view bytes) {
  // Dropping what is parsed only when it is most of the buffer keeps feeding linear.
  if (position_ > buffer_.size() / 2) {
    buffer_.erase(0, position_);
    base_ += position_;
    position_ = 0;
  }
  buffer_ += bytes;
}

void LogReader::skip_to_magic(std::string reason, size_t bytes) {
  if (!in_gap_) {
    in_gap_ = true;
    gap_start_ = base_ + position_;
    gap_reason_ = std::move(reason);
  }
  position_ = find_magic(buffer_, position_ + bytes);
}

std::optional<Event> LogReader::close_gap(uint64_t until) {
  in_gap_ = false;
  in_vain_ = 0;
  return Gap{gap_start_, until - gap_start_, std::move(gap_reason_)};
}

std::optional<Event> LogReader::next() {
  while (position_ < buffer_.size()) {
    const std::string_view rest = std::string_view(buffer_).substr(position_);
    FrameHeader header;
    if (rest.size() < kFrameHeaderBytes) {
      if (find_magic(rest, 0) != 0) {
        skip_to_magic("not a telemetry record");
        continue;
      }
      if (!finished_) return std::nullopt;
      skip_to_magic("a record cut off in its header");
      continue;
    }
    if (!read_header(rest, header) || header.length > kMaxPayloadBytes) {
      skip_to_magic(find_magic(rest, 0) == 0 ? "a damaged record header"
                                             : "not a telemetry record");
      continue;
    }
    const size_t bytes = kFrameHeaderBytes + header.length;
    if (rest.size() < bytes) {
      if (!finished_) return std::nullopt;
      skip_to_magic(
          fmt::format("record {} cut off: {} of {} bytes", header.seq, rest.size(), bytes));
      continue;
    }
    const std::string_view payload = rest.substr(kFrameHeaderBytes, header.length);
    if (payload_checksum(header, payload) != header.checksum) {
      in_vain_ += header.length;
      skip_to_magic(fmt::format("record {} is damaged: its checksum does not match", header.seq),
                    in_vain_ > kMaxInVain ? bytes : 1);
      continue;
    }
    if (in_gap_) return close_gap(base_ + position_);
    const uint64_t offset = base_ + position_;
    position_ += bytes;
    if (header.version > kVersion) {
      return Gap{offset, bytes,
                 fmt::format("record {} has format version {}; this build reads up to {}",
                             header.seq, header.version, kVersion)};
    }
    return Frame{header.seq,      static_cast<Type>(header.type),
                 offset,          bytes,
                 header.checksum, std::string(payload)};
  }
  if (in_gap_ && finished_) return close_gap(end());
  return std::nullopt;
}

}  // namespace heddle::telemetry
