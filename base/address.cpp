#include "base/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <memory>

namespace heddle {
namespace {

constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

Address address_of(const sockaddr* at) {
  Address address;
  if (at->sa_family == AF_INET6) {
    const auto* six = reinterpret_cast<const sockaddr_in6*>(at);
    memcpy(address.ip.data(), &six->sin6_addr, address.ip.size());
    address.port = ntohs(six->sin6_port);
  } else if (at->sa_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(at);
    memcpy(address.ip.data(), kMapped.data(), kMapped.size());
    memcpy(address.ip.data() + kMapped.size(), &four->sin_addr, 4);
    address.port = ntohs(four->sin_port);
  }
  return address;
}

template <typename Ask>
Address asked(const Socket& socket, Ask ask) {
  sockaddr_storage at{};
  socklen_t length = sizeof(at);
  if (ask(socket.fd(), reinterpret_cast<sockaddr*>(&at), &length) != 0) return {};
  return address_of(reinterpret_cast<sockaddr*>(&at));
}

bool is_ipv4(const Address& address) {
  return memcmp(address.ip.data(), kMapped.data(), kMapped.size()) == 0;
}

bool is_public_ipv4(const uint8_t* ip) {
  struct Block {
    uint32_t first;
    int bits;
  };
  // The ranges that RFC 6890 and RFC 6598 keep out of the internet.
  constexpr Block kKept[] = {{0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},  {0xa9fe0000, 16},
                             {0xac100000, 12}, {0xc0000000, 24}, {0xc0000200, 24}, {0xc0a80000, 16},
                             {0xc6120000, 15}, {0xc6336400, 24}, {0xcb007100, 24}, {0xe0000000, 3}};
  const uint32_t value =
      uint32_t{ip[0]} << 24 | uint32_t{ip[1]} << 16 | uint32_t{ip[2]} << 8 | uint32_t{ip[3]};
  for (const Block& block : kKept)
    if ((value ^ block.first) >> (32 - block.bits) == 0) return false;
  return true;  // 0.0.0.0 too: a socket bound to it has every address of the machine
}

}  // namespace

Address own_address(const Socket& socket) {
  return asked(socket, [](auto... all) { return getsockname(all...); });
}

Address peer_address(const Socket& socket) {
  return asked(socket, [](auto... all) { return getpeername(all...); });
}

bool is_public(const Address& address) {
  if (is_ipv4(address)) return is_public_ipv4(address.ip.data() + kMapped.size());
  if (address.ip == decltype(address.ip){}) return true;  // as 0.0.0.0
  const bool documentation = address.ip[0] == 0x20 && address.ip[1] == 0x01 &&
                             address.ip[2] == 0x0d && address.ip[3] == 0xb8;
  return (address.ip[0] & 0xe0) == 0x20 && !documentation;  // 2000::/3, all that is given out
}

std::string interface_of(const Address& address) {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(all, freeifaddrs);
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next)
    if (each->ifa_addr != nullptr && address_of(each->ifa_addr).ip == address.ip &&
        (each->ifa_addr->sa_family == AF_INET || each->ifa_addr->sa_family == AF_INET6))
      return each->ifa_name;
  return {};
}

std::string ip_text(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool four = is_ipv4(address);
  inet_ntop(four ? AF_INET : AF_INET6, address.ip.data() + (four ? kMapped.size() : 0), text.data(),
            text.size());
  return text.data();
}

}  // namespace heddle
