// From a target's host to a Node. Blocks: never call from the GUI thread.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "remote/node.h"
#include "remote/target.h"

namespace heddle::remote {

/// Why there is no connection. `message` names the host and what to do.
struct ConnectError {
  enum class Kind {
    unreachable,       // no route, refused, no answer before the deadline, unknown name
    host_key_unknown,  // show `key.fingerprint`, ask, add `key` to target.accepted_keys, connect
                       // again
    host_key_changed,  // refuse: perhaps someone is in between; never offer one-click acceptance
    host_key_refused,  // revoked, or a known_hosts that cannot be read: nothing to accept either
    key_refused,       // the host accepts none of our keys
    protocol           // anything else
  };
  Kind kind = Kind::protocol;
  std::string message;
  bool is_about_host_key() const {
    return kind == Kind::host_key_unknown || kind == Kind::host_key_changed ||
           kind == Kind::host_key_refused;
  }
  AcceptedKey
      key;  // the key that was presented (the kinds that begin with host_key, where there is one)
  // host_key_unknown: what known_hosts says of it without settling it
  std::string because = {};
};

struct ConnectOptions {
  std::string ssh_folder;   // empty: ~/.ssh (known_hosts and default identities; never written)
  bool use_agent = true;    // the agent of $SSH_AUTH_SOCK
  bool background = false;  // no person waits for it: see Questions
  std::chrono::milliseconds deadline{15000};
  std::chrono::milliseconds shell_start{60000};  // how long the login shell there may take
};

/// Connects to one host of a target (this machine: at once).
tl::expected<std::unique_ptr<Node>, ConnectError> connect(const Target& target, const Host& host,
                                                          const ConnectOptions& options = {});

}  // namespace heddle::remote
