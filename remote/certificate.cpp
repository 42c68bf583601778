#include "remote/certificate.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "remote/wire.h"

namespace heddle::remote {
namespace {

constexpr size_t kMaxHeardBytes = 64
                                  << 10;  // before the algorithms: a banner and some lines of text
constexpr std::string_view kHello = "SSH-2.0-heddle\r\n";
constexpr char kKexInit = 20;  // RFC 4253, 7.1
constexpr size_t kCookie = 16;

/// The host key algorithms in the server's first packet; empty as long as it is incomplete.
std::string_view host_key_algorithms(std::string_view heard) {
  while (!heard.starts_with("SSH-")) {  // lines of text may come first
    const size_t end = heard.find('\n');
    if (end == heard.npos) return {};
    heard.remove_prefix(end + 1);
  }
  const size_t end = heard.find('\n');
  if (end == heard.npos) return {};
  std::string_view packet = heard.substr(end + 1);
  if (packet.size() < 4 || packet.size() - 4 < wire_number(packet)) return {};
  packet = packet.substr(4, wire_number(packet));
  if (packet.size() < 2 + kCookie || packet[1] != kKexInit) return {};
  packet.remove_prefix(2 + kCookie);
  take_text(packet);  // key exchange
  return take_text(packet);
}

}  // namespace

Result<bool> offers_certificate(int socket, Clock::time_point deadline) {
  std::string heard;
  std::string_view algorithms;
  bool open = send(socket, kHello.data(), kHello.size(), MSG_NOSIGNAL) ==
              static_cast<ssize_t>(kHello.size());
  while (open && algorithms.empty() && heard.size() < kMaxHeardBytes && Clock::now() < deadline) {
    pollfd polled{socket, POLLIN, 0};
    poll(&polled, 1, 100);
    char piece[4096];
    const ssize_t got = recv(socket, piece, sizeof(piece), MSG_DONTWAIT);
    if (got == 0) open = false;
    if (got > 0) heard.append(piece, static_cast<size_t>(got));
    algorithms = host_key_algorithms(heard);
  }
  close(socket);
  if (algorithms.empty()) return fail("the server does not say which host keys it has");
  return algorithms.find("-cert-v") != algorithms.npos;
}

}  // namespace heddle::remote
