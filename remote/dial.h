// A TCP connection before a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace heddle::remote {

using Clock = std::chrono::steady_clock;

/// Time after which unacknowledged bytes end the connection (TCP_USER_TIMEOUT).
inline constexpr std::chrono::milliseconds kSilence{15000};

/// A connected, non-blocking socket, owned by the caller. Name resolution counts towards the
/// deadline.
Result<int> dial(const std::string& address, uint16_t port, Clock::time_point deadline);

}  // namespace heddle::remote
