// A way through another SSH host: a forwarded connection behind a local socket.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "remote/carrier.h"
#include "remote/handshake.h"

namespace heddle::remote {

/// Owns the jump host's session and the thread that moves bytes between it and the local socket.
class Jump final : public Carrier {
 public:
  /// Connects to the jump host and on to address:port from there. `deadline`: see handshake().
  static tl::expected<std::unique_ptr<Jump>, ConnectError> open(
      const Host& jump_host, const std::string& address, uint16_t port,
      const std::vector<AcceptedKey>& accepted, const ConnectOptions& options,
      Clock::time_point& deadline);
  ~Jump() override;

  int take_socket() override;

 private:
  Jump(Session session, ssh_channel channel, int near_end, int far_end);
  void pump();
  bool move_out();
  bool move_in();

  Session session_;
  ssh_channel channel_;  // freed with the session
  int near_;
  const int far_;
  std::string outgoing_;  // from the socket, not yet taken by the channel
  std::string incoming_;  // from the channel, not yet taken by the socket
  std::atomic<bool> ending_{false};
  std::thread pump_;
};

}  // namespace heddle::remote
