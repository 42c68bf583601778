// A connection that the user's own ssh holds open (ControlMaster) and that others may go through.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::remote {

/// Whether an ssh of this user answers at the socket.
bool has_master(const std::string& control_path);

/// ssh on the master's connection, never on one of its own: the words before a host's name.
std::vector<std::string> ssh_through_master(const std::string& control_path);

/// The words that make a connection from the master's host on to address:port.
std::vector<std::string> forward_through_master(const std::string& control_path,
                                                const std::string& master_host,
                                                const std::string& address, uint16_t port);

}  // namespace heddle::remote
