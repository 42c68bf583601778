// Heddle's own connection to a host: a libssh session, a channel for each program. A host may allow
// a connection only one session at a time (MaxSessions 1): a channel is opened once there is room,
// and closed only after the host has closed it, unless the command is to end.
#pragma once

#include <memory>

#include "remote/carrier.h"
#include "remote/connection.h"
#include "remote/handshake.h"

namespace heddle::remote {

class OwnConnection final : public Connection {
 public:
  /// `carrier`: what carries the session's socket, if not a plain connection.
  explicit OwnConnection(Session session, std::unique_ptr<Carrier> carrier = {});

  Result<std::unique_ptr<Streams>> open(const std::string& host_name, const char* command,
                                        Clock::time_point deadline) override;
  bool is_open() const override;
  std::string error() const override;
  bool knock() override;
  bool take_in() override;
  void hang_up() override;

 private:
  std::unique_ptr<Carrier> carrier_;  // outlives the session, which runs through it
  Session session_;
};

}  // namespace heddle::remote
