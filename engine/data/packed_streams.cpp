#include "engine/data/packed_streams.h"

#include <zlib.h>
#include <zstd.h>

#include <string>
#include <utility>

namespace heddle::data {
namespace {

constexpr size_t kReadAtOnce = size_t{1} << 18;

/// What both have in common: the packed bytes that are not unpacked yet.
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
        const auto more = packed_->read(input_, kReadAtOnce);
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
 public:
  GzipStream(std::unique_ptr<ByteStream> packed, std::string path)
      : PackedStream(std::move(packed), std::move(path)) {
    constexpr int kGzip = 16;
    ready_ = inflateInit2(&state_, kGzip + MAX_WBITS) == Z_OK;
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { inflateEnd(&state_); }

 private:
  Result<size_t> unpack(char* to, size_t room) override {
    if (!ready_) return damaged("no memory to unpack it");
    state_.next_in = reinterpret_cast<Bytef*>(input_.data() + at_);
    state_.avail_in = static_cast<uInt>(input_.size() - at_);
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(room);
    within_ |= state_.avail_in > 0;
    const int result = inflate(&state_, Z_NO_FLUSH);
    at_ = input_.size() - state_.avail_in;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return damaged(state_.msg ? state_.msg : "it is no gzip file");
    if (result == Z_STREAM_END) {
      within_ = false;
      inflateReset(&state_);
    }
    return room - state_.avail_out;
  }

  z_stream state_{};
  bool ready_ = false;
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
