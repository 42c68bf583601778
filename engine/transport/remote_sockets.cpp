#include "engine/transport/remote_sockets.h"

#include <poll.h>

#include <algorithm>
#include <future>
#include <sstream>

#include "engine/transport/door.h"

namespace heddle::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How soon one who waits for callers sees that its own calls have failed.
constexpr milliseconds kGlance{200};

std::string address_key(int rank) { return fmt::format("tcp/{}", rank); }
std::string topic_of(const std::string& group) { return "links of " + group; }

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

// Facts that all connections of a rank share.
struct Side {
  c10d::Store& store;
  int rank;
  const std::vector<bool>& remote;
  std::string topic;
  const Credentials& credentials;
  Deadline deadline;

  int size() const { return static_cast<int>(remote.size()); }
};

// A higher rank calls the lower ones, exchange by exchange.
Result<> call_lower(const Side& side, std::vector<RemoteSockets>& sockets) {
  for (int peer = 0; peer < side.rank; ++peer) {
    if (!side.remote[peer]) continue;
    const std::vector<uint8_t> where = side.store.get(address_key(peer));
    std::istringstream in(std::string(where.begin(), where.end()));
    std::string host;
    uint16_t port = 0;
    in >> host >> port;
    for (int exchange = 0; exchange < kExchanges; ++exchange) {
      auto channel = knock(host, port, side.credentials, {side.topic, side.rank, peer, exchange},
                           side.deadline.left(), /*wait_for_listener=*/false);
      if (!channel) return fail("rank {} of another host: {}", peer, channel.error().message);
      sockets[peer][exchange] = std::move(*channel);
    }
  }
  return {};
}

// The higher ranks that have not called, by name.
std::string missing(const Side& side, const std::vector<RemoteSockets>& sockets) {
  std::string names;
  for (int peer = side.rank + 1; peer < side.size(); ++peer) {
    const bool whole = std::all_of(sockets[peer].begin(), sockets[peer].end(),
                                   [](const Channel& each) { return each.fd() >= 0; });
    if (side.remote[peer] && !whole) names += fmt::format("{}{}", names.empty() ? "" : ", ", peer);
  }
  return names;
}

void seat(const Side& side, std::vector<Guest> guests, std::vector<RemoteSockets>& sockets) {
  for (Guest& guest : guests) {
    const bool known = guest.caller > side.rank && guest.caller < side.size() &&
                       side.remote[guest.caller] && guest.lane >= 0 && guest.lane < kExchanges;
    // One who has come before lost its connection before it knew that it was in.
    if (known) sockets[guest.caller][guest.lane] = std::move(guest.channel);
  }
}

// Until all have called, or this rank's own calls have ended in vain.
Result<> let_in_higher(const Side& side, Door door, const std::shared_future<Result<>>& calls,
                       std::vector<RemoteSockets>& sockets) {
  while (!missing(side, sockets).empty()) {
    if (calls.wait_for(milliseconds(0)) == std::future_status::ready && !calls.get())
      return calls.get();
    if (side.deadline.passed())
      return fail("nothing came of rank {} of another host within {} ms", missing(side, sockets),
                  side.deadline.timeout().count());
    pollfd polled{door.fd(), POLLIN, 0};
    poll(&polled, 1,
         static_cast<int>(std::min({door.patience(), side.deadline.left(), kGlance}).count()));
    auto guests = door.step();
    if (!guests) return fail(guests);
    seat(side, std::move(*guests), sockets);
  }
  return {};
}

}  // namespace

Result<std::vector<RemoteSockets>> connect_ranks(
    c10d::Store& store, int rank, const std::vector<bool>& remote, const std::string& group,
    const std::string& address, const Credentials& credentials, milliseconds timeout) {
  std::vector<RemoteSockets> sockets(remote.size());
  const Side side{store, rank, remote, topic_of(group), credentials, Deadline(timeout)};
  std::optional<Door> door;
  if (!missing(side, sockets).empty()) {
    auto listener = listen_on(address, 0);
    if (!listener) return fail(listener);
    const std::string own = fmt::format("{} {}", address, listener->port());
    auto opened = Door::open(std::move(*listener), credentials, side.topic, rank);
    if (!opened) return fail(opened);
    door.emplace(std::move(*opened));
    store.set(address_key(rank), std::vector<uint8_t>(own.begin(), own.end()));
  }
  const std::shared_future<Result<>> calls =
      std::async(std::launch::async, [&] { return call_lower(side, sockets); });
  Result<> in;
  if (door) in = let_in_higher(side, std::move(*door), calls, sockets);
  if (in) in = calls.get();
  if (!in) return fail(in);
  return sockets;
}

}  // namespace heddle::transport
