#include "remote/agent.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "remote/wire.h"

namespace heddle::remote {
namespace {

// draft-miller-ssh-agent, 5.1.
constexpr char kFailure = 5, kRequestIdentities = 11, kIdentitiesAnswer = 12, kSignRequest = 13;
constexpr size_t kMaxMessage = 256 << 10;
/// Listing keys needs no person; a signature may wait for a touch or a passphrase.
constexpr std::chrono::seconds kListPatience{5};

/// −1 if nobody listens there, or the connection is not accepted at once.
int call(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!path || !*path || std::strlen(path) >= sizeof(address.sun_path)) return -1;
  std::strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      fcntl(fd, F_SETFL, 0) == 0)
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

std::chrono::milliseconds until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                  std::chrono::milliseconds(0));
}

/// One message without its length; empty: none before the deadline, or one too long.
std::string receive(const Socket& socket, Clock::time_point deadline) {
  std::string length(4, '\0');
  if (!receive_all(socket, length.data(), length.size(), until(deadline))) return {};
  std::string message(std::min(wire_number(length), kMaxMessage + 1), '\0');
  if (message.size() > kMaxMessage) return {};
  if (!receive_all(socket, message.data(), message.size(), until(deadline))) return {};
  return message;
}

bool send(const Socket& socket, std::string_view message) {
  const std::string bytes = wire_text(message);
  return send_all(socket, bytes.data(), bytes.size()).has_value();
}

std::string identities(const std::vector<AgentKey>& keys) {
  std::string message = kIdentitiesAnswer + wire_number_of(keys.size());
  for (const AgentKey& key : keys) message += wire_text(key.blob) + wire_text(key.comment);
  return message;
}

std::vector<AgentKey> keys_in(std::string_view answer) {
  std::vector<AgentKey> keys;
  if (answer.size() < 5 || answer[0] != kIdentitiesAnswer) return keys;
  answer.remove_prefix(5);
  while (!answer.empty()) {
    const std::string blob(take_text(answer));
    const std::string comment(take_text(answer));
    if (!blob.empty()) keys.push_back({blob, comment});
  }
  return keys;
}

/// Turns a request to sign with a certificate into one to sign with its key.
std::string with_key(std::string_view request, const AgentKey& lent) {
  std::string_view rest = request.substr(1);
  if (request[0] != kSignRequest || lent.key.empty() || take_text(rest) != lent.blob)
    return std::string(request);
  return kSignRequest + wire_text(lent.key) + std::string(rest);
}

}  // namespace

Agent::Agent(ssh_session session, Clock::time_point deadline)
    : deadline_(deadline), agent_(call(std::getenv("SSH_AUTH_SOCK"))) {
  if (agent_.fd() < 0) return;
  keys_ = keys_in(ask({&kRequestIdentities, 1}));
  std::array<int, 2> ends{};
  if (keys_.empty() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  near_ = Socket(ends[0]);
  if (ssh_set_agent_socket(session, ends[1]) != SSH_OK) {
    close(ends[1]);
    keys_.clear();
    return;
  }
  server_ = std::thread([this] { serve(); });
}

Agent::~Agent() {
  if (!server_.joinable()) return;
  shutdown(near_.fd(), SHUT_RDWR);
  shutdown(agent_.fd(), SHUT_RDWR);
  server_.join();
}

bool Agent::was_late() const {
  const std::lock_guard lock(mutex_);
  return late_;
}

void Agent::lend(const AgentKey& key) {
  const std::lock_guard lock(mutex_);
  lent_ = key;
}

std::string Agent::ask(std::string_view request) {
  const bool lists = request[0] == kRequestIdentities;
  const Clock::time_point by =
      lists ? std::min(deadline_, Clock::now() + kListPatience) : deadline_;
  std::string answer = send(agent_, request) ? receive(agent_, by) : std::string();
  if (answer.empty() && Clock::now() >= by) {
    const std::lock_guard lock(mutex_);
    late_ = true;
  }
  return answer;
}

void Agent::serve() {
  for (;;) {
    const std::string request = receive(near_, deadline_ + std::chrono::hours(1));
    if (request.empty()) return;
    std::string answer;
    if (request[0] == kRequestIdentities) {
      const std::lock_guard lock(mutex_);
      answer = identities({lent_});
    } else if (!was_late()) {
      std::string asked;
      {
        const std::lock_guard lock(mutex_);
        asked = with_key(request, lent_);
      }
      answer = ask(asked);
    }
    // A late answer would be mistaken for the next request's.
    if (answer.empty()) shutdown(agent_.fd(), SHUT_RDWR);
    if (!send(near_, answer.empty() ? std::string_view(&kFailure, 1) : answer)) return;
  }
}

}  // namespace heddle::remote
