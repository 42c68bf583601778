// Whether a host has a certificate for its key, which libssh neither asks for nor shows.
#pragma once

#include "remote/dial.h"

namespace heddle::remote {

/// Hears the algorithms for host keys that an SSH server offers, on a fresh connection that it then
/// closes. An error where the server does not say them before the deadline.
Result<bool> offers_certificate(int socket, Clock::time_point deadline);

}  // namespace heddle::remote
