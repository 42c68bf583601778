// Connections that a person's answers have opened: nobody is asked for another one-time password
// while one of them lives, so that all nodes of this process share it. Threads: any.
#pragma once

#include <memory>

#include "remote/ssh_session.h"
#include "remote/target.h"

namespace heddle::remote {

/// The living connection to the host, under the same name, by the same way and with the same keys;
/// nullptr: none.
std::shared_ptr<SshSession> logged_in(const Target& target, const Host& host);

void keep_logged_in(const Target& target, const Host& host, std::shared_ptr<SshSession> session);

}  // namespace heddle::remote
