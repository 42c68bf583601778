// TCP sockets: listening on one address, connecting to one. IPv4 and IPv6.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

namespace heddle {

/// A socket, closed with its owner and on exec.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  /// -1: none.
  int fd() const { return fd_; }
  /// The local port of a bound one.
  uint16_t port() const;

 private:
  int fd_ = -1;
};

/// Listens on `host` (a name or address of this machine) at `port`, 0: any free one.
Result<Socket> listen_on(const std::string& host, uint16_t port);

/// A connection to the one that listens there.
Result<Socket> connect_to(const std::string& host, uint16_t port,
                          std::chrono::milliseconds timeout);

/// Send or receive all of it; receiving within `timeout`.
Result<> send_all(const Socket& socket, const void* data, size_t bytes);
Result<> receive_all(const Socket& socket, void* data, size_t bytes,
                     std::chrono::milliseconds timeout);

}  // namespace heddle
