// Authentication by key: the agent's keys, then key files. No passwords.
#pragma once

#include "remote/handshake.h"

namespace heddle::remote {

/// Nothing when the host let us in, else what was tried and what to do.
tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              Clock::time_point deadline);

}  // namespace heddle::remote
