// Addresses of sockets as numbers: IPv4 as IPv6 maps it, so that there is one form.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/socket.h"

namespace heddle {

struct Address {
  std::array<uint8_t, 16> ip{};
  uint16_t port = 0;
  bool operator==(const Address&) const = default;
};

/// The addresses of this side of a socket and of the other; all zero where there is none.
Address own_address(const Socket& socket);
Address peer_address(const Socket& socket);

/// Whether the internet routes it: machines that nobody here knows can reach it.
bool is_public(const Address& address);

/// The network interface of this machine that has the address ("eth0"); empty: none has.
std::string interface_of(const Address& address);

/// "10.0.0.1", "fe80::1".
std::string ip_text(const Address& address);

}  // namespace heddle
