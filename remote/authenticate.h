// Authentication by key: one offer after another (key_offers.h). No passwords.
#pragma once

#include "remote/handshake.h"

namespace heddle::remote {

/// Nothing when the host let us in, else why not and what to do.
tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              Clock::time_point deadline);

}  // namespace heddle::remote
