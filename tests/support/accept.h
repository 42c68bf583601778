// The other end of a connection, in tests.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include "base/socket.h"

namespace heddle::test {

/// The next connection to a listening socket, or an error after `timeout`.
inline Result<Socket> accept_from(const Socket& listener, std::chrono::milliseconds timeout) {
  pollfd waiting{listener.fd(), POLLIN, 0};
  if (poll(&waiting, 1, static_cast<int>(timeout.count())) <= 0) return fail("nobody connected");
  Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.fd() < 0) return fail("cannot accept a connection");
  return socket;
}

}  // namespace heddle::test
