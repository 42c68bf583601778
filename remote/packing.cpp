#include "remote/packing.h"

#include <zlib.h>

#include <algorithm>

namespace heddle::remote {
namespace {

using Seconds = std::chrono::duration<double>;

// So many bytes go into buffers, whatever the line is like.
constexpr uint64_t kBuffers = uint64_t{8} << 20;
constexpr double kForget = 0.95;  // for each piece
constexpr double kClearly = 0.7;  // so much better it has to be
constexpr double kSmaller = 0.9;  // than that it has to get
constexpr uint64_t kPause = uint64_t{32} << 20;
constexpr int kFastest = 1;
constexpr int kGzip = 15 + 16;  // zlib's largest window, with gzip's head

}  // namespace

void Packing::hand_over(uint64_t bytes) {
  const Clock::time_point now = Clock::now();
  if (handed_ > kBuffers) {
    line_bytes_ = kForget * line_bytes_ + static_cast<double>(since_);
    line_seconds_ = kForget * line_seconds_ + Seconds(now - handed_at_ - worked_).count();
  }
  handed_at_ = now;
  worked_ = {};
  since_ = bytes;
  handed_ += bytes;
}

bool Packing::pays() const {
  if (line_bytes_ == 0 || handed_ < not_before_) return false;
  const double gain = bytes_per_second_ * (1 - share_);
  return line_bytes_ < kClearly * gain * line_seconds_;
}

std::string Packing::pack(std::string_view bytes) {
  const Clock::time_point begun = Clock::now();
  z_stream stream{};
  if (deflateInit2(&stream, kFastest, Z_DEFLATED, kGzip, 9, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const auto size = static_cast<double>(bytes.size());
  bytes_per_second_ = size / std::max(Seconds(Clock::now() - begun).count(), 1e-6);
  share_ = static_cast<double>(packed.size()) / size;
  if (done && share_ < kSmaller) return packed;
  not_before_ = handed_ + kPause;
  share_ = 0.4;  // other bytes may be others
  return {};
}

}  // namespace heddle::remote
