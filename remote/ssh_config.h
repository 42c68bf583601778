// How ssh would reach a host, from ~/.ssh/config and /etc/ssh/ssh_config: HostName, User, Port,
// IdentityFile, IdentitiesOnly, ProxyJump, HostKeyAlias, UserKnownHostsFile, GlobalKnownHostsFile,
// in Host and Match blocks and included files. Every other line that holds for a host is noted by
// place and name; hosts that could not be reached without it are refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remote/target.h"

namespace heddle::remote {

struct ResolvedHost {
  Host host;
  std::vector<std::string> notes;  // "FILE:LINE: ForwardAgent is ignored"
};

struct SshConfig {
  std::vector<Host> hosts;            // each alias without a pattern character, resolved
  std::vector<std::string> warnings;  // why an alias is not among them
};

/// The hosts that a config names. Absent files are empty. Default: the user's, then the system's.
SshConfig hosts_of_ssh_config(const std::string& file = {});

/// `alias` (or "[user@]alias[:port]") resolved by the config: what the user typed wins.
Result<ResolvedHost> resolve_host(std::string_view text, const std::string& file = {});

}  // namespace heddle::remote
