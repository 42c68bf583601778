// A channel on which a host runs one command. A host may allow a connection only one session at a
// time (MaxSessions 1): a channel is opened once there is room, and closed only after the host has
// closed it, unless the command is to end.
#pragma once

#include <memory>

#include "remote/handshake.h"

namespace heddle::remote {

struct ChannelFreed {
  void operator()(ssh_channel channel) const;
};
using Channel = std::unique_ptr<ssh_channel_struct, ChannelFreed>;

/// Waits for room and for the host's word that it runs `command`, until `deadline`.
Result<Channel> open_channel(ssh_session session, const std::string& host_name, const char* command,
                             Clock::time_point deadline);

/// Waits for the host to close the channel of a command that has ended. False: it has not by
/// `deadline`.
bool wait_for_close(ssh_session session, const Channel& channel, Clock::time_point deadline);

}  // namespace heddle::remote
