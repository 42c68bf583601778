#include "engine/transport/remote_sockets.h"

#include <algorithm>
#include <random>
#include <sstream>

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A stranger's connection that says nothing holds the others up no longer than this.
constexpr milliseconds kGreeting{5000};

// What the one that connects says first. The token is known to those who can read the store.
struct Greeting {
  uint64_t token = 0;
  int32_t rank = 0;
  int32_t exchange = 0;
};
// What the other one says to that.
constexpr char kWelcome = 'h';

std::string key_of(int rank) { return fmt::format("tcp/{}", rank); }

class Deadline {
 public:
  explicit Deadline(milliseconds timeout)
      : timeout_(timeout), end_(steady_clock::now() + timeout) {}

  milliseconds left() const {
    return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(end_ - steady_clock::now()));
  }
  bool passed() const { return steady_clock::now() >= end_; }
  milliseconds timeout() const { return timeout_; }

 private:
  milliseconds timeout_;
  steady_clock::time_point end_;
};

// One who was too slow to greet is turned away like a stranger, and calls again.
Result<Socket> call(const std::string& where, int rank, int exchange, const Deadline& deadline) {
  std::istringstream in(where);
  std::string host;
  uint16_t port = 0;
  Greeting greeting{0, rank, exchange};
  in >> host >> port >> greeting.token;
  while (true) {
    auto socket = connect_to(host, port, deadline.left());
    if (!socket) return socket;
    char answer = 0;
    auto said = send_all(*socket, &greeting, sizeof(greeting));
    if (said) said = receive_all(*socket, &answer, sizeof(answer), deadline.left());
    if (said) return socket;
    if (deadline.passed()) return fail(said);
  }
}

// Those of higher ranks that have not called, by name.
std::string missing(const std::vector<RemoteSockets>& sockets, int rank,
                    const std::vector<bool>& remote) {
  std::string names;
  for (size_t peer = static_cast<size_t>(rank) + 1; peer < sockets.size(); ++peer)
    if (remote[peer] && sockets[peer].back().fd() < 0)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", peer);
  return names;
}

}  // namespace

Result<std::vector<RemoteSockets>> connect_ranks(c10d::Store& store, int rank,
                                                 const std::vector<bool>& remote,
                                                 const std::string& address, milliseconds timeout) {
  std::vector<RemoteSockets> sockets(remote.size());
  const int size = static_cast<int>(remote.size());
  const Deadline deadline(timeout);
  const auto listener = listen_on(address, 0);
  if (!listener) return fail(listener);
  const uint64_t token = std::random_device()() | uint64_t{std::random_device()()} << 32;
  const std::string own = fmt::format("{} {} {}", address, listener->port(), token);
  store.set(key_of(rank), std::vector<uint8_t>(own.begin(), own.end()));

  // Those of a higher rank call those of a lower one, exchange by exchange.
  int callers = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (!remote[peer]) continue;
    if (peer > rank) callers += kExchanges;
    if (peer > rank) continue;
    const std::vector<uint8_t> where = store.get(key_of(peer));
    for (int exchange = 0; exchange < kExchanges; ++exchange) {
      auto socket = call({where.begin(), where.end()}, rank, exchange, deadline);
      if (!socket) return fail("rank {} of another host: {}", peer, socket.error().message);
      sockets[peer][exchange] = std::move(*socket);
    }
  }
  while (callers > 0) {
    auto socket = accept_from(*listener, deadline.left());
    if (!socket && deadline.passed())
      return fail("nothing came of rank {} of another host within {} ms",
                  missing(sockets, rank, remote), deadline.timeout().count());
    if (!socket) return fail(socket);
    Greeting greeting;
    const auto greeted =
        receive_all(*socket, &greeting, sizeof(greeting), std::min(kGreeting, deadline.left()));
    const bool known = greeted && greeting.token == token && greeting.rank > rank &&
                       greeting.rank < size && remote[greeting.rank] && greeting.exchange >= 0 &&
                       greeting.exchange < kExchanges &&
                       sockets[greeting.rank][greeting.exchange].fd() < 0;
    if (!known || !send_all(*socket, &kWelcome, sizeof(kWelcome))) continue;
    sockets[greeting.rank][greeting.exchange] = std::move(*socket);
    --callers;
  }
  return sockets;
}

}  // namespace heddle::transport
