// Authentication by key: one offer after another (key_offers.h); where the host asks questions, by
// a person's answers (interactive.h). No passwords otherwise.
#pragma once

#include "remote/handshake.h"

namespace heddle::remote {

/// Nothing when the host let us in, else why not and what to do. `deadline` becomes later by the
/// time that a person takes to answer.
tl::expected<void, ConnectError> authenticate(ssh_session session, const Host& host,
                                              const ConnectOptions& options,
                                              Clock::time_point& deadline);

}  // namespace heddle::remote
