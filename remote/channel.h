// Heddle's own connection to a host: a libssh session, a channel for each program. A host may allow
// a connection only one session at a time (MaxSessions 1): a channel is opened once there is room,
// and closed only after the host has closed it, unless the command is to end. A host that allows
// more is asked for the next program's channel while a program runs, which saves it a round trip.
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
  /// libssh's own closing would speak of a channel that the host never opened, and the host hangs
  /// up.
  struct Unopened {
    void operator()(ssh_channel channel) const { ssh_channel_free(channel); }
  };
  using Spare = std::unique_ptr<ssh_channel_struct, Unopened>;

  Result<Spare> open_channel(const std::string& host_name, Clock::time_point deadline);
  Result<Spare> take_spare(const std::string& host_name, Clock::time_point deadline);
  void ask_for_spare();

  std::unique_ptr<Carrier> carrier_;  // outlives the session, which runs through it
  Session session_;
  Spare spare_;                // asked for, and perhaps open
  bool opens_several_ = true;  // until the host refuses one
};

}  // namespace heddle::remote
