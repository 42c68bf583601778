// The connection to the user's SSH agent. libssh waits for an agent for ever; this one ends.
#pragma once

#include <libssh/libssh.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "remote/dial.h"

namespace heddle::remote {

/// Has a session speak with the agent of $SSH_AUTH_SOCK, until a deadline: then whatever waits for
/// the agent fails as if it had closed. To be destroyed before the session is.
class AgentSocket {
 public:
  AgentSocket(ssh_session session, Clock::time_point deadline);
  ~AgentSocket();
  AgentSocket(const AgentSocket&) = delete;
  AgentSocket& operator=(const AgentSocket&) = delete;

  /// False where there is no agent, or none that takes connections.
  bool connected() const { return fd_ >= 0; }
  bool was_late() const;

 private:
  void watch(Clock::time_point deadline);

  int fd_ = -1;  // the session's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool late_ = false;
  std::thread watcher_;
};

}  // namespace heddle::remote
