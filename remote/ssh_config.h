// How ssh would reach a host, from ~/.ssh/config and /etc/ssh/ssh_config: HostName, User, Port,
// IdentityFile, IdentitiesOnly, CertificateFile, ProxyJump, ProxyCommand, ControlPath,
// HostKeyAlias, UserKnownHostsFile, GlobalKnownHostsFile, in Host and Match blocks and included
// files. Every other line that holds for a host and would change how it is reached is noted by
// place and name; hosts that could not be reached without it are refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remote/ssh_config_lines.h"
#include "remote/target.h"

namespace heddle::remote {

struct ResolvedHost {
  Host host;
  std::vector<std::string> notes;  // "FILE:LINE: BindAddress is ignored"
};

struct SshConfig {
  std::vector<Host> hosts;            // each alias without a pattern character, resolved
  std::vector<std::string> warnings;  // why an alias is not among them
  bool operator==(const SshConfig&) const = default;
};

/// The hosts that a config names, for repeated questions: they are resolved again when what
/// its files say has changed. Absent files are empty. Threads: one at a time.
class ConfiguredHosts {
 public:
  /// Default: the user's, then the system's.
  explicit ConfiguredHosts(std::string file = {}) : file_(std::move(file)) {}
  const SshConfig& now();

 private:
  std::string file_;
  ConfigFiles files_;
  SshConfig config_;
};

/// `alias` (or "[user@]alias[:port]") resolved by the config: what the user typed wins.
Result<ResolvedHost> resolve_host(std::string_view text, const std::string& file = {});

}  // namespace heddle::remote
