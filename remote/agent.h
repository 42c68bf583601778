// The user's SSH agent: the keys it holds, and one of them at a time lent to a libssh session,
// which by itself would offer all of them to the host, and wait for the agent for ever.
#pragma once

#include <libssh/libssh.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/socket.h"
#include "remote/dial.h"

namespace heddle::remote {

/// A public key, or a certificate, that the agent signs with.
struct AgentKey {
  std::string blob;  // as SSH sends it
  std::string comment;
  std::string key = {};  // of a certificate that the agent does not hold: the key that it does
};

/// The agent at $SSH_AUTH_SOCK. Destroy it before the session. Threads: one at a time.
class Agent {
 public:
  /// Until `deadline` it may answer.
  Agent(ssh_session session, Clock::time_point deadline);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// In the agent's order. None where there is no agent, or none that answers: see was_late.
  const std::vector<AgentKey>& keys() const { return keys_; }
  bool was_late() const;
  /// From now on the session sees an agent that holds this key alone.
  void lend(const AgentKey& key);

 private:
  /// The agent's answer; empty: none before the deadline.
  std::string ask(std::string_view request);
  void serve();

  const Clock::time_point deadline_;
  Socket agent_;
  Socket near_;  // what the session speaks to; its own end is libssh's to close
  std::vector<AgentKey> keys_;
  mutable std::mutex mutex_;
  AgentKey lent_;
  bool late_ = false;
  std::thread server_;
};

}  // namespace heddle::remote
