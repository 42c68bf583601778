#include "engine/data/packed_streams.h"

#include <isa-l/igzip_lib.h>
#include <zstd.h>

#include <string>
#include <utility>

namespace heddle::data {
namespace {

constexpr size_t kPackedReadAtOnce = size_t{1} << 18;

/// The common part of both: the packed bytes that are not unpacked yet.
class PackedStream : public ByteStream {
 public:
  PackedStream(std::unique_ptr<ByteStream> packed, std::string path)
      : packed_(std::move(packed)), path_(std::move(path)) {}

  Result<bool> read(std::string& bytes, size_t most) override {
    const size_t before = bytes.size();
    while (bytes.size() == before) {
      if (at_ == input_.size() && !more_within_) {
        unpacked_ += input_.size();
        input_.clear();
        at_ = 0;
        const auto more = packed_->read(input_, kPackedReadAtOnce);
        if (!more) return fail(more);
        if (!*more && within_)
          return fail("{}: is cut short: it ends within what was packed", path_);
        if (!*more) return false;
      }
      bytes.resize(before + most);
      const auto made = unpack(bytes.data() + before, most);
      bytes.resize(before + made.value_or(0));
      if (!made) return fail(made);
      more_within_ = *made == most;
    }
    return true;
  }

 protected:
  /// Unpacks some of the input into at most `room` bytes; how many it made.
  virtual Result<size_t> unpack(char* to, size_t room) = 0;
  tl::unexpected<Error> damaged(std::string_view how) const {
    return fail("{}: is damaged (at byte {}): {}", path_, unpacked_ + at_, how);
  }

  std::string input_;
  size_t at_ = 0;       // in it
  bool within_ = true;  // a member or frame has begun and not ended; there is one at least

 private:
  std::unique_ptr<ByteStream> packed_;
  std::string path_;
  uint64_t unpacked_ = 0;
  bool more_within_ = false;  // there was no room for all that is unpacked
};

class GzipStream : public PackedStream {
  static constexpr char kMagic = '\x1f';

 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string path)
      : PackedStream(std::move(packed), std::move(path)) {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
  }

 private:
  Result<size_t> unpack(char* to, size_t room) override {
    // ISA-L would ask for a whole header first.
    if (!within_ && at_ < input_.size() && input_[at_] != kMagic)
      return damaged("what follows is no gzip file");
    state_.next_in = reinterpret_cast<uint8_t*>(input_.data() + at_);
    state_.avail_in = static_cast<uint32_t>(input_.size() - at_);
    state_.next_out = reinterpret_cast<uint8_t*>(to);
    state_.avail_out = static_cast<uint32_t>(room);
    within_ |= state_.avail_in > 0;
    const int result = isal_inflate(&state_);
    at_ = input_.size() - state_.avail_in;
    if (result < 0) return damaged(words(result));
    if (state_.block_state == ISAL_BLOCK_FINISH) {
      within_ = false;
      isal_inflate_reset(&state_);
    }
    return room - state_.avail_out;
  }

  static std::string_view words(int result) {
    switch (result) {
      case ISAL_INVALID_WRAPPER:
      case ISAL_UNSUPPORTED_METHOD:
        return "it is no gzip file";
      case ISAL_INCORRECT_CHECKSUM:
        return "its checksum differs";
      default:
        return "what was packed cannot be read";
    }
  }

  inflate_state state_;
};

class ZstandardStream : public PackedStream {
 public:
  using PackedStream::PackedStream;

 private:
  Result<size_t> unpack(char* to, size_t room) override {
    if (!state_) return damaged("no memory to unpack it");
    ZSTD_inBuffer in{input_.data(), input_.size(), at_};
    ZSTD_outBuffer out{to, room, 0};
    const size_t result = ZSTD_decompressStream(state_.get(), &out, &in);
    // Without input it names the size of a frame's header, whether or not there is another frame.
    within_ = result != 0 && (within_ || in.pos > at_);
    at_ = in.pos;
    if (ZSTD_isError(result)) return damaged(ZSTD_getErrorName(result));
    return out.pos;
  }

  struct Free {
    void operator()(ZSTD_DStream* state) const { ZSTD_freeDStream(state); }
  };
  std::unique_ptr<ZSTD_DStream, Free> state_{ZSTD_createDStream()};
};

}  // namespace

std::unique_ptr<ByteStream> gunzipped(std::unique_ptr<ByteStream> packed, const std::string& path) {
  return std::make_unique<GzipStream>(std::move(packed), path);
}

std::unique_ptr<ByteStream> unzstd(std::unique_ptr<ByteStream> packed, const std::string& path) {
  return std::make_unique<ZstandardStream>(std::move(packed), path);
}

}  // namespace heddle::data
