// Values that ranks exchange while they meet, and the words for them: one request, one reply.
// Values are kept only as long as the run, and only so much of them. No socket here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::transport {

using StoreValue = std::vector<uint8_t>;

inline constexpr size_t kMaxKeyBytes = 256;
inline constexpr size_t kMaxValueBytes = 1 << 20;
/// Bytes of all keys and values of a run.
inline constexpr size_t kMaxStoreBytes = 64 << 20;

enum class StoreCall : uint8_t { set, get, compare_set, add, remove, count };

struct StoreRequest {
  StoreCall call = StoreCall::get;
  uint32_t wait_ms = 0;      // of get: for a key that is not there yet
  std::string key = {};      // of all but count
  StoreValue value = {};     // of set and compare_set; of add 8 bytes
  StoreValue expected = {};  // of compare_set
};

enum class StoreStatus : uint8_t { done, absent, refused };

struct StoreReply {
  StoreStatus status = StoreStatus::done;
  StoreValue value = {};  // of refused: why, as text
};

/// One after the other, to be sent as they are: the length of the rest in four bytes, then that.
std::vector<uint8_t> to_frame(const StoreRequest& request);
std::vector<uint8_t> to_frame(const StoreReply& reply);

inline constexpr size_t kLengthBytes = 4;
/// The length that a frame begins with. An error: longer than any that this version sends.
Result<size_t> frame_length(std::span<const uint8_t> begin);
/// Parses the bytes after the length.
Result<StoreRequest> request_from(std::span<const uint8_t> rest);
Result<StoreReply> reply_from(std::span<const uint8_t> rest);

/// Numbers as `add` takes and gives them.
StoreValue number_value(int64_t number);
Result<int64_t> number_from(const StoreValue& value);

class StoreValues {
 public:
  /// Executes a request. A get that finds nothing gives absent; a caller that can wait asks again.
  StoreReply answer(const StoreRequest& request);

 private:
  StoreReply put(const std::string& key, const StoreValue& value, StoreValue reply);

  std::map<std::string, StoreValue> values_;
  size_t bytes_ = 0;
};

}  // namespace heddle::transport
