// One program on an SSH host: a channel from its opening to the exit code.
#pragma once

#include "remote/ssh_session.h"

namespace heddle::remote {

/// Runs argv to its end on the session's thread. See SshSession::execute.
Result<Completed> exec(ssh_session session, const std::string& host_name,
                       const std::vector<std::string>& argv, const Source& source, Limit limit);

}  // namespace heddle::remote
