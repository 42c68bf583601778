// One program on an SSH host: from its channel's opening to its exit code.
#pragma once

#include "remote/ssh_session.h"

namespace heddle::remote {

/// Runs argv to its end on the connection's thread. See SshSession::execute. `shell_start`: the
/// longest that the login shell there has taken to run a command, kept up to date here.
Result<Completed> exec(Connection& connection, const std::string& host_name,
                       const std::vector<std::string>& argv, const Source& source, Limit limit,
                       std::chrono::milliseconds& shell_start);

/// The first command on a connection: whether the login shell there runs what it is asked to, how
/// long it takes to start, and what time it is there. An error says why no program can be run.
Result<Greeting> greet(Connection& connection, const std::string& host_name,
                       std::chrono::milliseconds patience);

}  // namespace heddle::remote
