#include "remote/agent_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace heddle::remote {
namespace {

/// −1 where nobody listens, or does not take the call at once.
int call(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!path || !*path || std::strlen(path) >= sizeof(address.sun_path)) return -1;
  std::strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0)
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

}  // namespace

AgentSocket::AgentSocket(ssh_session session, Clock::time_point deadline)
    : fd_(call(std::getenv("SSH_AUTH_SOCK"))) {
  if (fd_ >= 0 && ssh_set_agent_socket(session, fd_) != SSH_OK) {
    close(fd_);
    fd_ = -1;
  }
  if (fd_ >= 0) watcher_ = std::thread([this, deadline] { watch(deadline); });
}

AgentSocket::~AgentSocket() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (watcher_.joinable()) watcher_.join();
}

bool AgentSocket::was_late() const {
  const std::lock_guard lock(mutex_);
  return late_;
}

void AgentSocket::watch(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, deadline, [this] { return over_; })) return;
  late_ = true;
  shutdown(fd_, SHUT_RDWR);
}

}  // namespace heddle::remote
