// What Heddle takes from ~/.ssh/config: Host patterns, HostName, User, Port, IdentityFile,
// IdentitiesOnly, ProxyJump, Include. Every other option is ignored with a warning that names it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remote/target.h"

namespace heddle::remote {

struct SshConfig {
  std::vector<Host> hosts;            // each alias without a pattern character, resolved
  std::vector<std::string> warnings;  // "FILE:LINE: ProxyCommand is ignored: …"
};

/// Reads a config file; an absent one is empty. Default: ~/.ssh/config.
SshConfig hosts_of_ssh_config(const std::string& file = {});

/// `alias` (or "[user@]alias[:port]") resolved by the config: what the user typed wins.
Result<Host> resolve_host(std::string_view text, const std::string& file = {});

}  // namespace heddle::remote
