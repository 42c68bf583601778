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

std::string key_of(int rank) { return fmt::format("tcp/{}", rank); }

Result<Socket> call(const std::string& where, int rank, int exchange, milliseconds timeout) {
  std::istringstream in(where);
  std::string host;
  uint16_t port = 0;
  Greeting greeting{0, rank, exchange};
  in >> host >> port >> greeting.token;
  auto socket = connect_to(host, port, timeout);
  if (!socket) return socket;
  if (const auto sent = send_all(*socket, &greeting, sizeof(greeting)); !sent) return fail(sent);
  return socket;
}

}  // namespace

Result<std::vector<RemoteSockets>> connect_ranks(c10d::Store& store, int rank,
                                                 const std::vector<bool>& remote,
                                                 const std::string& address, milliseconds timeout) {
  std::vector<RemoteSockets> sockets(remote.size());
  const int size = static_cast<int>(remote.size());
  const auto deadline = steady_clock::now() + timeout;
  const auto left = [&] {
    return std::max(milliseconds(1),
                    std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()));
  };
  const auto listener = listen_on(address, 0);
  if (!listener) return fail(listener);
  const uint64_t token = std::random_device()() | uint64_t{std::random_device()()} << 32;
  const std::string own = fmt::format("{} {} {}", address, listener->port(), token);
  store.set(key_of(rank), std::vector<uint8_t>(own.begin(), own.end()));

  // Those of a higher rank call those of a lower one, which need not have answered yet.
  int callers = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (!remote[peer]) continue;
    if (peer > rank) callers += kExchanges;
    if (peer > rank) continue;
    const std::vector<uint8_t> where = store.get(key_of(peer));
    for (int exchange = 0; exchange < kExchanges; ++exchange) {
      auto socket = call({where.begin(), where.end()}, rank, exchange, left());
      if (!socket) return fail("rank {}: {}", peer, socket.error().message);
      sockets[peer][exchange] = std::move(*socket);
    }
  }
  while (callers > 0) {
    auto socket = accept_from(*listener, left());
    if (!socket) return fail("a rank of another host is missing: {}", socket.error().message);
    Greeting greeting;
    if (!receive_all(*socket, &greeting, sizeof(greeting), std::min(kGreeting, left()))) continue;
    const bool known = greeting.token == token && greeting.rank > rank && greeting.rank < size &&
                       remote[greeting.rank] && greeting.exchange >= 0 &&
                       greeting.exchange < kExchanges &&
                       sockets[greeting.rank][greeting.exchange].fd() < 0;
    if (!known) continue;
    sockets[greeting.rank][greeting.exchange] = std::move(*socket);
    --callers;
  }
  return sockets;
}

}  // namespace heddle::transport
