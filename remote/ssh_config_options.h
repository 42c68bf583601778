// Which lines of the user's and the system's ssh_config hold for one host: Host, Match and Include
// as ssh takes them. Match's `exec` alone is not decided: Heddle runs nobody's commands to find
// out how to connect.
#pragma once

#include <string>
#include <vector>

#include "remote/ssh_config_lines.h"

namespace heddle::remote {

struct ConfigOptions {
  std::vector<ConfigLine> lines;   // in the order in which they count: the first one wins
  std::vector<std::string> notes;  // "FILE:LINE: …" of blocks that are not decided
};

/// The requested host, as typed.
struct Asked {
  std::string alias;
  std::string user;   // empty: none was typed
  uint16_t port = 0;  // 0: none was typed
};

/// Empty `file`: ~/.ssh/config, then /etc/ssh/ssh_config. A line that ssh would not read is an
/// error, in any block.
Result<ConfigOptions> options_for(ConfigFiles& files, const std::string& file, const Asked& asked);

/// The names in all Host lines that are no patterns, each once. Errors as options_for.
Result<std::vector<std::string>> aliases_in(ConfigFiles& files, const std::string& file);

/// The local user's name.
std::string local_user();

}  // namespace heddle::remote
