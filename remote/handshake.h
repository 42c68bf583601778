// The beginning of an SSH session on a connected socket: key exchange, the host's key checked, our
// key accepted. All before one deadline.
#pragma once

#include <libssh/libssh.h>

#include <memory>

#include "remote/connect.h"
#include "remote/dial.h"

namespace heddle::remote {

struct SessionClosed {
  void operator()(ssh_session session) const;
};
/// A libssh session in non-blocking mode. Only one thread may use it at a time.
using Session = std::unique_ptr<ssh_session_struct, SessionClosed>;

/// Waits until the session's socket has something to do, at most 100 ms and not beyond `deadline`.
void wait_for_socket(ssh_session session, Clock::time_point deadline);

/// Handles what the host has sent, without waiting. False when it has hung up.
bool take_in(ssh_session session);

/// Calls a non-blocking libssh function until it does not answer SSH_AGAIN; SSH_AGAIN at the
/// deadline, SSH_ERROR when the connection is gone.
template <typename Function>
int until_done(ssh_session session, Clock::time_point deadline, Function function) {
  for (;;) {
    const int answer = function();
    if (answer != SSH_AGAIN || Clock::now() >= deadline) return answer;
    // libssh itself goes on asking for more.
    if (!ssh_is_connected(session)) return SSH_ERROR;
    wait_for_socket(session, deadline);
  }
}

/// Takes over `socket`. `accepted`: see Target. `deadline` becomes later by the time that a person
/// takes to answer the host's questions.
tl::expected<Session, ConnectError> handshake(int socket, const Host& host,
                                              const std::vector<AcceptedKey>& accepted,
                                              const ConnectOptions& options,
                                              Clock::time_point& deadline);

}  // namespace heddle::remote
