#include "remote/frames.h"

#include <algorithm>
#include <cstring>

namespace heddle::remote {
namespace {

constexpr uint64_t kPlainFrame = uint64_t{4} << 20;

}  // namespace

Result<size_t> Frames::next(char* buffer, size_t size) {
  packing_.begin_work();
  Result<size_t> filled = fill(buffer, size);
  packing_.end_work();
  if (filled) packing_.hand_over(*filled);
  return filled;
}

Result<size_t> Frames::fill(char* buffer, size_t size) {
  if (ready_at_ == ready_.size() && plain_left_ > 0) {
    if (const Result<> more = read_more(size); !more) return fail(more);
  } else if (ready_at_ == ready_.size()) {
    const Result<bool> begun = begin();
    if (!begun) return fail(begun);
    if (!*begun) return size_t{0};
  }
  const size_t n = std::min(size, ready_.size() - ready_at_);
  std::memcpy(buffer, ready_.data() + ready_at_, n);
  ready_at_ += n;
  return n;
}

/// A frame that is not packed has it.
Result<> Frames::read_more(size_t most) {
  Result<std::string> bytes = read(std::min<uint64_t>(most, plain_left_));
  if (!bytes) return fail(bytes);
  plain_left_ -= bytes->size();
  ready_ = std::move(*bytes);
  ready_at_ = 0;
  return tell_(put(), ready_.size());
}

/// The next frame's beginning, or all of it. False: there is no more.
Result<bool> Frames::begin() {
  while (left_ == 0) {
    if (next_ == uploads_.size()) return false;
    const Upload& upload = uploads_[next_++];
    left_ = upload.total - upload.offset;
    auto opened = PlainFile::open_existing(upload.put->from);
    if (!opened) return fail(opened);
    file_.emplace(std::move(*opened));
    file_->skip_to(upload.offset);
  }
  ready_at_ = 0;
  if (!packs_ || !packing_.pays()) {
    plain_left_ = std::min(kPlainFrame, left_);
    left_ -= plain_left_;
    ready_ = fmt::format("{} 0\n", plain_left_);
    return true;
  }
  const Result<std::string> bytes = read(std::min(Packing::kPiece, left_));
  if (!bytes) return fail(bytes);
  left_ -= bytes->size();
  const std::string packed = packing_.pack(*bytes);
  ready_ = fmt::format("{} {}\n", bytes->size(), packed.size());
  ready_ += packed.empty() ? *bytes : packed;
  if (const Result<> told = tell_(put(), bytes->size()); !told) return fail(told);
  return true;
}

Result<std::string> Frames::read(uint64_t size) {
  Result<std::string> bytes = file_->read(size);
  if (bytes && bytes->empty()) return fail("{} changed while it was sent: try again", put().from);
  return bytes;
}

}  // namespace heddle::remote
