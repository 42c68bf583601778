// The keys to offer to a host, in order: certificates and keys that the target or ~/.ssh/config
// names, the agent's others, the default files. A host counts each offer and hangs up after some
// (MaxAuthTries), so named keys come first, wherever they are kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "remote/agent.h"
#include "remote/connect.h"

namespace heddle::remote {

/// One key or certificate, and who signs for it: the agent, or else the file's own private key.
struct KeyOffer {
  std::string words = {};        // "~/.ssh/id_ed25519", "the agent's key lab"
  std::string file = {};         // empty: only the agent has it
  std::string certificate = {};  // its file; empty: the plain key
  std::string type = {};         // "ssh-ed25519"; empty: not known before the file is opened
  std::optional<AgentKey> agent = {};
};

struct KeyOffers {
  std::vector<KeyOffer> offers;
  std::vector<std::string> notes;  // on files that are named and cannot be offered
};

/// `agent_keys`: what the agent holds.
KeyOffers offers_for(const Host& host, const ConnectOptions& options,
                     const std::vector<AgentKey>& agent_keys);

}  // namespace heddle::remote
