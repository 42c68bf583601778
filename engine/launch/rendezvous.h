// The socket that rank 0's TCPStore listens on, opened by the launcher so that it is bound to one
// chosen address only (the store has no authentication and would bind to all).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace heddle::launch {

struct Rendezvous {
  int fd = -1;  // bound and listening, closed on exec; the caller's to close
  uint16_t port = 0;
};

/// Listens on `host` (a name or address of this machine) at `port`, 0: any free one.
Result<Rendezvous> open_rendezvous(const std::string& host, uint16_t port);

}  // namespace heddle::launch
