// Where ranks meet. On one host: a file of the run directory, so that they need no network. On
// several: a socket of rank 0's process, opened by the launcher on one chosen address, at
// which the others prove that they know the run's secret (engine/transport/handshake.h).
#pragma once

#include <cstdint>
#include <string>

#include "base/address.h"

namespace heddle::runs {

/// The file of a run directory that the ranks' FileStore is in. The launcher removes an earlier
/// one.
std::string rendezvous_file(const std::string& run_dir);

/// The file of a run directory that the run's secret is in while the run goes on. Written by the
/// launcher, read by the ranks.
std::string secret_file(const std::string& run_dir);

/// Listens on `host` (a name or address of this machine) at `port`, 0: any free one.
Result<Socket> open_rendezvous(const std::string& host, uint16_t port, bool public_addresses);

/// Refuses an address that the internet reaches, unless ranks may listen on such: whoever can reach
/// one can take its time, though not its secret.
Result<> check_reach(const Address& address, bool public_addresses);

}  // namespace heddle::runs
