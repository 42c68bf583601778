// A port of loopback that nothing listens on.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

namespace heddle::test {

inline uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0;
  if (bound) getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  close(fd);
  return bound ? ntohs(address.sin_port) : uint16_t{0};
}

}  // namespace heddle::test
