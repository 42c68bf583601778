// The side of a measurement that calls.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "engine/links/link.h"
#include "engine/transport/channel.h"
#include "engine/transport/handshake.h"

namespace heddle::links {

struct MeasureOptions {
  std::string to;  // the address where the other host listens
  uint16_t port = 0;
  int caller = 0, answerer = 0;  // the hosts' numbers among the target's
};

/// The secret is the first line of stdin. Prints the link as JSON and returns 0; else an error on
/// stderr and 1.
int measure(const MeasureOptions& options);

/// One request of the caller, 16 bytes: what it wants and of how many bytes.
struct Request {
  enum class Want : uint8_t { end, echo, take, give };
  Want want = Want::end;
  uint64_t bytes = 0;
};
inline constexpr size_t kRequestBytes = 16;
inline constexpr uint64_t kMaxTransfer = uint64_t{256} << 20;

transport::Credentials credentials_with(const Secret& secret);
inline constexpr const char* kTopic = "links";

Result<> send_request(transport::Channel& channel, const Request& request);
Result<Request> receive_request(transport::Channel& channel);
/// So many zeros, or that many bytes taken and dropped.
Result<> give_bytes(transport::Channel& channel, uint64_t bytes);
Result<> take_bytes(transport::Channel& channel, uint64_t bytes);

}  // namespace heddle::links
