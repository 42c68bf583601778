#include "remote/dial.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

namespace heddle::remote {
namespace {

struct Freed {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, Freed>;

/// getaddrinfo has no deadline of its own: it gets a thread that may outlive the call.
Result<Addresses> resolve(const std::string& address, uint16_t port, Clock::time_point deadline) {
  struct Answer {
    int error = 0;
    Addresses list;
  };
  std::promise<Answer> promise;
  std::future<Answer> answer = promise.get_future();
  std::thread([address, service = std::to_string(port), promise = std::move(promise)]() mutable {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int error = getaddrinfo(address.c_str(), service.c_str(), &hints, &list);
    promise.set_value({error, Addresses(list)});
  }).detach();
  if (answer.wait_until(deadline) != std::future_status::ready) {
    return fail("no answer from the name service about \"{}\"", address);
  }
  Answer found = answer.get();
  if (found.error != 0) return fail("unknown host \"{}\": {}", address, gai_strerror(found.error));
  return std::move(found.list);
}

/// 0, or the errno of the attempt; ETIMEDOUT at the deadline.
int connect_until(int fd, const addrinfo& address, Clock::time_point deadline) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd polled{fd, POLLOUT, 0};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (poll(&polled, 1, static_cast<int>(std::max<int64_t>(left, 0))) <= 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

Result<int> dial(const std::string& address, uint16_t port, Clock::time_point deadline) {
  const Result<Addresses> addresses = resolve(address, port, deadline);
  if (!addresses) return fail(addresses);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* next = addresses->get(); next; next = next->ai_next) {
    const int fd = socket(next->ai_family, next->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                          next->ai_protocol);
    if (fd < 0) {
      error = errno;
      continue;
    }
    error = connect_until(fd, *next, deadline);
    if (error == 0) {
      const int on = 1;
      const auto silence = static_cast<unsigned>(kSilence.count());
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof(silence));
      return fd;
    }
    close(fd);
  }
  if (error == ETIMEDOUT) return fail("no answer from {} port {}", address, port);
  return fail("no connection to {} port {}: {}", address, port, std::strerror(error));
}

}  // namespace heddle::remote
