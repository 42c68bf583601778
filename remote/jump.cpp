#include "remote/jump.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/guard.h"

namespace heddle::remote {
namespace {

constexpr size_t kPiece = 1 << 16;

/// libssh's words, or what the host's reason means (RFC 4254, 5.1).
std::string why_not_forwarded(const std::string& error) {
  if (error.find(" error (1)") != error.npos)
    return "it forwards no connections, or not this one: AllowTcpForwarding, DisableForwarding or "
           "PermitOpen of its sshd_config forbid it, or the options of your key in "
           "authorized_keys. Its administrator can permit it";
  if (error.find(" error (2)") != error.npos) return "nobody answers there (" + error + ")";
  return error;
}

}  // namespace

tl::expected<std::unique_ptr<Jump>, ConnectError> Jump::open(
    const Host& jump_host, const std::string& address, uint16_t port,
    const std::vector<AcceptedKey>& accepted, const ConnectOptions& options,
    Clock::time_point& deadline) {
  using Kind = ConnectError::Kind;
  const Result<int> socket = dial(jump_host.address, jump_host.port, deadline);
  if (!socket) {
    return tl::unexpected(
        ConnectError{Kind::unreachable,
                     fmt::format("{}the host to go through: {}", before_address(jump_host),
                                 socket.error().message),
                     {}});
  }
  auto session = handshake(*socket, jump_host, accepted, options, deadline);
  if (!session) return tl::unexpected(session.error());

  ssh_channel channel = ssh_channel_new(session->get());
  const int answer = until_done(session->get(), deadline, [&] {
    return ssh_channel_open_forward(channel, address.c_str(), port, "localhost", 0);
  });
  if (answer != SSH_OK) {
    const std::string why = answer == SSH_AGAIN ? "no answer in time"
                                                : why_not_forwarded(ssh_get_error(session->get()));
    return tl::unexpected(ConnectError{Kind::unreachable,
                                       fmt::format("{}: no connection from there to {} port {}: {}",
                                                   jump_host.name, address, port, why),
                                       {}});
  }
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return tl::unexpected(
        ConnectError{Kind::protocol, fmt::format("no socket pair: {}", std::strerror(errno)), {}});
  }
  return std::unique_ptr<Jump>(new Jump(std::move(*session), channel, ends[0], ends[1]));
}

Jump::Jump(Session session, ssh_channel channel, int near_end, int far_end)
    : session_(std::move(session)),
      channel_(channel),
      near_(near_end),
      far_(far_end),
      pump_([this] {
        // The session that runs through it learns of an end by the closed socket.
        const Result<> done = caught([this]() -> Result<> {
          pump();
          return {};
        });
        if (!done) close(far_);
      }) {}

Jump::~Jump() {
  ending_ = true;
  pump_.join();
  if (near_ >= 0) close(near_);
}

int Jump::take_socket() { return std::exchange(near_, -1); }

/// From the socket to the channel. True when bytes moved.
bool Jump::move_out() {
  if (outgoing_.empty()) {
    outgoing_.resize(kPiece);
    const ssize_t n = recv(far_, outgoing_.data(), outgoing_.size(), 0);
    outgoing_.resize(n > 0 ? static_cast<size_t>(n) : 0);
    if (n == 0) ending_ = true;
  }
  if (outgoing_.empty()) return false;
  const int sent =
      ssh_channel_write(channel_, outgoing_.data(), static_cast<uint32_t>(outgoing_.size()));
  if (sent <= 0) return false;
  outgoing_.erase(0, static_cast<size_t>(sent));
  return true;
}

/// From the channel to the socket. True when bytes moved.
bool Jump::move_in() {
  if (incoming_.empty()) {
    incoming_.resize(kPiece);
    const int n = ssh_channel_read_nonblocking(channel_, incoming_.data(), kPiece, 0);
    incoming_.resize(n > 0 ? static_cast<size_t>(n) : 0);
    if (n == SSH_EOF) ending_ = true;
  }
  if (incoming_.empty()) return false;
  const ssize_t sent = send(far_, incoming_.data(), incoming_.size(), MSG_NOSIGNAL);
  if (sent <= 0) return false;
  incoming_.erase(0, static_cast<size_t>(sent));
  return true;
}

/// Runs until either side ends. Closing the far end ends the session that runs through it.
void Jump::pump() {
  while (!ending_ && ssh_is_connected(session_.get()) && !ssh_channel_is_closed(channel_)) {
    const bool out = move_out();
    const bool in = move_in();
    if (out || in) continue;
    const short near_events =
        static_cast<short>((outgoing_.empty() ? POLLIN : 0) | (incoming_.empty() ? 0 : POLLOUT));
    const bool pending = (ssh_get_poll_flags(session_.get()) & SSH_WRITE_PENDING) != 0;
    const short host_events = static_cast<short>(POLLIN | (pending ? POLLOUT : 0));
    std::array<pollfd, 2> polled{
        {{far_, near_events, 0}, {ssh_get_fd(session_.get()), host_events, 0}}};
    poll(polled.data(), polled.size(), 100);
  }
  close(far_);
}

}  // namespace heddle::remote
