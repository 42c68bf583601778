#include "engine/transport/store_values.h"

#include <cstring>

namespace heddle::transport {
namespace {

constexpr size_t kMaxFrameBytes = 64 + kMaxKeyBytes + 2 * kMaxValueBytes;

class Writer {
 public:
  Writer() : bytes_(kLengthBytes) {}
  void number(uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void byte(uint8_t value) { bytes_.push_back(value); }
  template <typename Bytes>
  void string(const Bytes& value) {
    number(static_cast<uint32_t>(value.size()));
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  std::vector<uint8_t> frame() && {
    const auto length = static_cast<uint32_t>(bytes_.size() - kLengthBytes);
    for (int i = 0; i < 4; ++i) bytes_[i] = static_cast<uint8_t>(length >> (8 * i));
    return std::move(bytes_);
  }

 private:
  std::vector<uint8_t> bytes_;
};

uint32_t number_at(std::span<const uint8_t> bytes) {
  uint32_t number = 0;
  for (int i = 0; i < 4; ++i) number |= uint32_t{bytes[i]} << (8 * i);
  return number;
}

// After the first thing that does not fit it gives nothing more.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> rest) : rest_(rest) {}
  uint8_t byte() {
    const auto taken = take(1);
    return taken.empty() ? 0 : taken[0];
  }
  uint32_t number() {
    const auto taken = take(4);
    return taken.empty() ? 0 : number_at(taken);
  }
  template <typename Bytes>
  Bytes string(size_t most) {
    const uint32_t size = number();
    if (size > most) ok_ = false;
    const auto taken = ok_ ? take(size) : std::span<const uint8_t>();
    return Bytes(taken.begin(), taken.end());
  }
  /// Everything fitted, and nothing is left.
  bool whole() const { return ok_ && rest_.empty(); }

 private:
  std::span<const uint8_t> take(size_t bytes) {
    if (!ok_ || bytes > rest_.size()) {
      ok_ = false;
      return {};
    }
    const auto taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }

  std::span<const uint8_t> rest_;
  bool ok_ = true;
};

StoreReply refused(const std::string& why) {
  return {StoreStatus::refused, StoreValue(why.begin(), why.end())};
}

}  // namespace

std::vector<uint8_t> to_frame(const StoreRequest& request) {
  Writer writer;
  writer.byte(static_cast<uint8_t>(request.call));
  writer.number(request.wait_ms);
  writer.string(request.key);
  writer.string(request.value);
  writer.string(request.expected);
  return std::move(writer).frame();
}

std::vector<uint8_t> to_frame(const StoreReply& reply) {
  Writer writer;
  writer.byte(static_cast<uint8_t>(reply.status));
  writer.string(reply.value);
  return std::move(writer).frame();
}

Result<size_t> frame_length(std::span<const uint8_t> begin) {
  const size_t length = number_at(begin);
  if (length > kMaxFrameBytes) return fail("a message of {} bytes is too long", length);
  return length;
}

Result<StoreRequest> request_from(std::span<const uint8_t> rest) {
  Reader reader(rest);
  StoreRequest request;
  const uint8_t call = reader.byte();
  request.call = static_cast<StoreCall>(call);
  request.wait_ms = reader.number();
  request.key = reader.string<std::string>(kMaxKeyBytes);
  request.value = reader.string<StoreValue>(kMaxValueBytes);
  request.expected = reader.string<StoreValue>(kMaxValueBytes);
  if (!reader.whole() || call > static_cast<uint8_t>(StoreCall::count))
    return fail("a request that is none");
  return request;
}

Result<StoreReply> reply_from(std::span<const uint8_t> rest) {
  Reader reader(rest);
  StoreReply reply;
  const uint8_t status = reader.byte();
  reply.status = static_cast<StoreStatus>(status);
  reply.value = reader.string<StoreValue>(kMaxValueBytes);
  if (!reader.whole() || status > static_cast<uint8_t>(StoreStatus::refused))
    return fail("a reply that is none");
  return reply;
}

StoreValue number_value(int64_t number) {
  const std::string text = std::to_string(number);
  return {text.begin(), text.end()};
}

Result<int64_t> number_from(const StoreValue& value) {
  const std::string text(value.begin(), value.end());
  try {
    size_t read = 0;
    const int64_t number = std::stoll(text, &read);
    if (read == text.size()) return number;
  } catch (const std::exception&) {  // no number, or none that fits
  }
  return fail("what is to be added to is no number");
}

StoreReply StoreValues::put(const std::string& key, const StoreValue& value, StoreValue reply) {
  const auto found = values_.find(key);
  const size_t before = found == values_.end() ? 0 : key.size() + found->second.size();
  const size_t after = bytes_ - before + key.size() + value.size();
  if (after > kMaxStoreBytes)
    return refused(fmt::format("the ranks keep more than {} bytes", kMaxStoreBytes));
  bytes_ = after;
  values_[key] = value;
  return {StoreStatus::done, std::move(reply)};
}

StoreReply StoreValues::answer(const StoreRequest& request) {
  const auto found = values_.find(request.key);
  const bool there = found != values_.end();
  switch (request.call) {
    case StoreCall::set:
      return put(request.key, request.value, {});
    case StoreCall::get:
      if (!there) return {StoreStatus::absent};
      return {StoreStatus::done, found->second};
    case StoreCall::compare_set:
      // As c10d's stores: nothing is expected of a key that is not there.
      if (there ? found->second == request.expected : request.expected.empty())
        return put(request.key, request.value, request.value);
      return {StoreStatus::done, there ? found->second : request.expected};
    case StoreCall::add: {
      const auto before = there ? number_from(found->second) : Result<int64_t>(0);
      const auto more = number_from(request.value);
      int64_t sum = 0;
      if (!before) return refused(before.error().message);
      if (!more) return refused(more.error().message);
      if (__builtin_add_overflow(*before, *more, &sum)) return refused("the sum does not fit");
      return put(request.key, number_value(sum), number_value(sum));
    }
    case StoreCall::remove:
      if (!there) return {StoreStatus::absent};
      bytes_ -= request.key.size() + found->second.size();
      values_.erase(found);
      return {};
    case StoreCall::count:
      return {StoreStatus::done, number_value(static_cast<int64_t>(values_.size()))};
  }
  return refused("a request that is none");
}

}  // namespace heddle::transport
