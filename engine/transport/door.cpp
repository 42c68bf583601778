#include "engine/transport/door.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;

// Callers let in at one step, so that connected ones have their turn while many call.
constexpr int kCallersAtOnce = 64;
constexpr milliseconds kBetweenCalls{50};
// A door turns the silent away first, so that the caller knows and calls again.
constexpr milliseconds kPatientCaller = 2 * Door::kHandshake;

Result<> watch(const Socket& epoll, const Socket& socket) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = socket.fd();
  if (epoll_ctl(epoll.fd(), EPOLL_CTL_ADD, socket.fd(), &event) != 0)
    return fail("epoll: {}", strerror(errno));
  return {};
}

// How a call has gone: nobody there, not let in, or in.
struct Call {
  Result<Channel> channel;
  bool again = false;  // the next one may go better
};

Call call(const std::string& host, uint16_t port, const Credentials& credentials,
          const Contact& contact, milliseconds timeout, bool wait_for_listener) {
  auto socket = connect_to(host, port, timeout);
  if (!socket) return {fail(socket), wait_for_listener};
  const auto failed = [&](const auto& result, bool again) {
    return Call{fail("{} port {}: {}", host, port, result.error().message), again};
  };
  auto handshake = Handshake::calling(credentials, contact, peer_address(*socket));
  if (!handshake) return failed(handshake, false);
  Result<Handshake::Bytes> words = handshake->hello();
  std::array<uint8_t, 128> said{};
  while (true) {
    const auto sent = send_all(*socket, words->data(), words->size());
    if (!sent) return failed(sent, true);
    if (handshake->done()) return {Channel(std::move(*socket), handshake->keys())};
    const size_t size = handshake->awaits();
    const auto got = receive_all(*socket, said.data(), size, std::min(timeout, kPatientCaller));
    if (!got) return failed(got, true);
    words = handshake->take({said.data(), size});
    if (!words) return failed(words, false);
  }
}

}  // namespace

Door::Door(Socket listener, Socket epoll, Credentials credentials, std::string topic, int answerer)
    : listener_(std::move(listener)),
      epoll_(std::move(epoll)),
      credentials_(std::move(credentials)),
      topic_(std::move(topic)),
      answerer_(answerer) {}

Result<Door> Door::open(Socket listener, Credentials credentials, std::string topic, int answerer) {
  Socket epoll(epoll_create1(EPOLL_CLOEXEC));
  if (epoll.fd() < 0) return fail("epoll: {}", strerror(errno));
  const int flags = fcntl(listener.fd(), F_GETFL);
  if (flags < 0 || fcntl(listener.fd(), F_SETFL, flags | O_NONBLOCK) != 0)
    return fail("the listening socket: {}", strerror(errno));
  if (const auto watched = watch(epoll, listener); !watched) return fail(watched);
  return Door(std::move(listener), std::move(epoll), std::move(credentials), std::move(topic),
              answerer);
}

milliseconds Door::patience() const {
  if (strangers_.empty()) return std::chrono::hours(1);
  const auto left = strangers_.front().since + kHandshake - Clock::now();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left));
}

Door::Strangers::iterator Door::find(int fd) {
  return std::find_if(strangers_.begin(), strangers_.end(),
                      [&](const Stranger& each) { return each.socket.fd() == fd; });
}

Result<> Door::take_callers() {
  for (int taken = 0; taken < kCallersAtOnce; ++taken) {
    // Connections are reset on the way, and there may be room again as soon as somebody has gone.
    Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.fd() < 0) {
      const int error = errno;
      if (error == EBADF || error == EINVAL || error == ENOTSOCK)
        return fail("cannot accept connections: {}", strerror(error));
      const bool full = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
      if (full && !strangers_.empty()) strangers_.pop_front();
      if (full) std::this_thread::sleep_for(milliseconds(1));
      return {};
    }
    auto handshake = Handshake::answering(credentials_, topic_, answerer_, own_address(socket));
    if (!handshake) return fail(handshake);
    if (strangers_.size() == kStrangers) strangers_.pop_front();
    if (!watch(epoll_, socket)) continue;
    strangers_.push_back({std::move(socket), std::move(*handshake), Clock::now()});
  }
  return {};
}

bool Door::hear(Stranger& stranger) {
  const size_t missing = stranger.handshake.awaits() - stranger.size;
  const ssize_t got =
      recv(stranger.socket.fd(), stranger.said.data() + stranger.size, missing, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got <= 0) return false;
  stranger.size += static_cast<size_t>(got);
  if (stranger.size < stranger.handshake.awaits()) return true;
  const auto answer = stranger.handshake.take({stranger.said.data(), stranger.size});
  stranger.size = 0;
  // So few bytes find room in the kernel, or the connection is of no use.
  return answer && send(stranger.socket.fd(), answer->data(), answer->size(),
                        MSG_DONTWAIT | MSG_NOSIGNAL) == static_cast<ssize_t>(answer->size());
}

Result<std::vector<Guest>> Door::step() {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.fd(), events.data(), events.size(), 0);
  std::vector<Guest> guests;
  bool called = false;
  for (int i = 0; i < count; ++i) {
    const int fd = events[i].data.fd;
    if (fd == listener_.fd()) {
      called = true;
      continue;
    }
    const auto stranger = find(fd);
    if (stranger == strangers_.end()) continue;
    if (!hear(*stranger)) {
      strangers_.erase(stranger);
    } else if (stranger->handshake.done()) {
      epoll_ctl(epoll_.fd(), EPOLL_CTL_DEL, fd, nullptr);
      const Handshake& said = stranger->handshake;
      guests.push_back(
          {Channel(std::move(stranger->socket), said.keys()), said.caller(), said.lane()});
      strangers_.erase(stranger);
    }
  }
  // After those who talk: a caller must not push out one who has just answered.
  if (called)
    if (const auto taken = take_callers(); !taken) return fail(taken);
  while (!strangers_.empty() && patience() == milliseconds(0)) strangers_.pop_front();
  return guests;
}

Result<Channel> knock(const std::string& host, uint16_t port, const Credentials& credentials,
                      const Contact& contact, milliseconds timeout, bool wait_for_listener) {
  const auto end = Door::Clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(end - Door::Clock::now());
    Call made =
        call(host, port, credentials, contact, std::max(milliseconds(1), left), wait_for_listener);
    if (made.channel) return std::move(made.channel);
    if (!made.again || left <= kBetweenCalls) return fail(made.channel);
    std::this_thread::sleep_for(kBetweenCalls);
  }
}

}  // namespace heddle::transport
