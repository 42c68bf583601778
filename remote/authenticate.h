// Authentication by key: one offer after another (key_offers.h). No passwords.
#pragma once

#include "remote/handshake.h"
#include "remote/user_algorithms.h"

namespace heddle::remote {

/// Nothing when the host let us in, else why not and what to do. `taken`: what the host has said of
/// the keys that it takes.
tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              const UserAlgorithms& taken,
                                              Clock::time_point deadline);

}  // namespace heddle::remote
