// Connections to the ranks whose memory cannot be read.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/transport/channel.h"
#include "engine/transport/handshake.h"

namespace heddle::transport {

/// A collective's second exchange has a connection of its own: it is sent once the first has been
/// summed, and must not wait behind later collectives' first ones.
inline constexpr int kExchanges = 2;

/// To one rank, by exchange.
using RemoteSockets = std::array<Channel, kExchanges>;

/// Every rank of the group calls this. By rank: `remote[r]`: rank r is reached this way; the others
/// have no sockets. `group`: no other group of the run that a rank is in has this name. `address`:
/// of this host, as the others reach it. Nothing listens any more when it returns. Throws
/// c10::Error when a rank does not reach the store.
Result<std::vector<RemoteSockets>> connect_ranks(
    c10d::Store& store, int rank, const std::vector<bool>& remote, const std::string& group,
    const std::string& address, const Credentials& credentials, std::chrono::milliseconds timeout);

}  // namespace heddle::transport
