#include "base/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

namespace heddle {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// After a timeout errno says something else.
std::string text_of(int error) {
  return error == EINPROGRESS || error == EAGAIN ? "no answer in time" : strerror(error);
}

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Result<Addresses> resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    return fail("host {}: {}", host, gai_strerror(error));
  return Addresses(found, freeaddrinfo);
}

// BBR sends next to nothing for 200 ms every ten seconds, to see how fast the way is when it is
// empty, and paces by timers that take time from compute. To be asked for before there is a
// connection, or the timers stay. Whatever else the system is set to is its owner's choice.
void avoid_bbr(int fd) {
  std::array<char, 16> name{};  // TCP_CA_NAME_MAX
  socklen_t length = name.size();
  if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return;
  if (!std::string_view(name.data()).starts_with("bbr")) return;
  for (const std::string_view other : {"cubic", "reno"})  // the first may take a right
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, other.data(), other.size()) == 0) return;
}

// The first address for which `use` succeeds, else the last error.
template <typename Use>
Result<Socket> first_usable(const std::string& host, uint16_t port, Use use) {
  const auto addresses = resolve(host, port);
  if (!addresses) return fail(addresses);
  int error = 0;
  for (const addrinfo* at = addresses->get(); at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (socket.fd() >= 0) avoid_bbr(socket.fd());
    if (socket.fd() >= 0 && use(socket.fd(), *at)) return socket;
    error = errno;
  }
  return fail("{}", text_of(error));
}

// Signals interrupt, also where handlers restart: sockets with timeouts are exempt from that.
template <typename Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

void limit(int fd, int option, milliseconds timeout) {
  const timeval value{timeout.count() / 1000, timeout.count() % 1000 * 1000};
  setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value));
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

uint16_t Socket::port() const {
  sockaddr_storage address{};
  socklen_t length = sizeof(address);
  getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

Result<Socket> listen_on(const std::string& host, uint16_t port) {
  auto listener = first_usable(host, port, [](int fd, const addrinfo& at) {
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return bind(fd, at.ai_addr, at.ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0;
  });
  if (!listener)
    return fail("cannot listen on {} port {}: {}", host, port, listener.error().message);
  return listener;
}

Result<Socket> connect_to(const std::string& host, uint16_t port, milliseconds timeout) {
  auto socket = first_usable(host, port, [&](int fd, const addrinfo& at) {
    limit(fd, SO_SNDTIMEO, timeout);  // which connect() keeps to, too
    return connect(fd, at.ai_addr, at.ai_addrlen) == 0;
  });
  if (!socket) return fail("cannot connect to {} port {}: {}", host, port, socket.error().message);
  return socket;
}

Result<> send_all(const Socket& socket, const void* data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t sent = uninterrupted([&] {
      return send(socket.fd(), static_cast<const char*>(data) + done, bytes - done, MSG_NOSIGNAL);
    });
    if (sent < 0) return fail("cannot send: {}", text_of(errno));
    done += static_cast<size_t>(sent);
  }
  return {};
}

Result<> receive_all(const Socket& socket, void* data, size_t bytes, milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  for (size_t done = 0; done < bytes;) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    limit(socket.fd(), SO_RCVTIMEO, std::max(milliseconds(1), left));  // 0 would be for ever
    const ssize_t got = uninterrupted(
        [&] { return recv(socket.fd(), static_cast<char*>(data) + done, bytes - done, 0); });
    if (got <= 0)
      return fail("cannot receive: {}", got == 0 ? "the connection has ended" : text_of(errno));
    done += static_cast<size_t>(got);
  }
  return {};
}

}  // namespace heddle
