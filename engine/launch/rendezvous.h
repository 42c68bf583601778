// Where ranks meet. Those of one host: a file of the run directory, so that they need no network.
// Those of several: the socket that rank 0's TCPStore listens on, opened by the launcher so that it
// is bound to one chosen address only (the store has no authentication and would bind to all).
#pragma once

#include <cstdint>
#include <string>

#include "base/socket.h"

namespace heddle::launch {

/// The file of a run directory that the ranks' FileStore is in. The launcher removes an earlier
/// one.
std::string rendezvous_file(const std::string& run_dir);

/// Listens on `host` (a name or address of this machine) at `port`, 0: any free one.
Result<Socket> open_rendezvous(const std::string& host, uint16_t port);

}  // namespace heddle::launch
