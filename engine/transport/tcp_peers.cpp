#include "engine/transport/tcp_peers.h"

#include <ATen/ops/empty.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "engine/transport/prompt_thread.h"

namespace heddle::transport {

TcpPeers::TcpPeers(int rank, std::vector<RemoteSockets> sockets)
    : rank_(rank),
      size_(static_cast<int>(sockets.size())),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      streams_(sockets.size()) {
  TORCH_CHECK(wake_fd_ >= 0, "eventfd: ", strerror(errno));
  for (int peer = 0; peer < size_; ++peer) {
    remote_.push_back(sockets[peer][0].fd() >= 0);
    for (Channel& channel : sockets[peer]) streams_[peer].emplace_back(std::move(channel));
  }
  thread_ = prompt_thread("wire", [this] { loop(); });
}

TcpPeers::~TcpPeers() {
  close();
  thread_.join();
  ::close(wake_fd_);
}

void TcpPeers::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  wake();
}

void TcpPeers::wake() {
  const uint64_t one = 1;
  // It fails only where the thread has been woken already.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof(one));
}

void TcpPeers::loop() {
  std::vector<pollfd> polled;
  std::vector<Stream*> streams;
  std::unique_lock lock(mutex_);
  while (!closed_) {
    polled.assign(1, {wake_fd_, POLLIN, 0});
    streams.assign(1, nullptr);
    for (std::vector<Stream>& peer : streams_)
      for (Stream& stream : peer)
        if (const short events = stream.events(); events != 0) {
          polled.push_back({stream.fd(), events, 0});
          streams.push_back(&stream);
        }
    lock.unlock();
    poll(polled.data(), polled.size(), -1);
    if (polled[0].revents != 0) {
      uint64_t times = 0;
      [[maybe_unused]] const ssize_t got = read(wake_fd_, &times, sizeof(times));
    }
    lock.lock();
    bool changed = false;
    for (size_t i = 1; i < polled.size(); ++i) {
      Stream& stream = *streams[i];
      // Trying to send or receive finds the failure.
      const bool failed = (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
      const auto can = [&](short what) {
        return (stream.events() & what) && (failed || (polled[i].revents & what));
      };
      if (can(POLLIN)) changed |= stream.receive_some(lock);
      if (can(POLLOUT)) changed |= stream.send_some(lock);
    }
    if (changed) changed_.notify_all();
  }
}

void TcpPeers::start(const Operation& operation, RemoteTraffic& traffic) {
  {
    std::lock_guard lock(mutex_);
    traffic.peers.resize(size_);
    exchange(operation, 0, traffic);
  }
  wake();
}

void TcpPeers::start_second(const Operation& operation, RemoteTraffic& traffic) {
  {
    std::lock_guard lock(mutex_);
    exchange(operation, 1, traffic);
  }
  wake();
}

void TcpPeers::exchange(const Operation& operation, int exchange, RemoteTraffic& traffic) {
  for (int peer = 0; peer < size_; ++peer) {
    if (!remote_[peer]) continue;
    RemoteTraffic::Peer& with = traffic.peers[peer];
    Arrival& arrival = with.arrivals[exchange];
    arrival.own = operation.descriptor;
    if (operation.sums(exchange)) {
      arrival.ranges = sums(operation, rank_, size_);
      with.rows = at::empty({static_cast<int64_t>(total_bytes(arrival.ranges))}, at::kByte);
      lay_out(arrival.ranges, with.rows);
    } else {
      arrival.ranges = places(operation, exchange, peer, size_);
    }
    Departure& departure = with.departures[exchange];
    departure.descriptor = operation.descriptor;
    departure.ranges = parts(operation, exchange, operation.sources, rank_, peer, size_);
    Stream& stream = streams_[peer][exchange];
    if (stream.ended()) continue;
    stream.expect(arrival);
    stream.send(departure);
  }
}

template <typename Met>
TcpPeers::Outcome TcpPeers::wait(int peer, int exchange, Limit limit, Met met) {
  std::unique_lock lock(mutex_);
  const Stream& stream = streams_[peer][exchange];
  changed_.wait_for(lock, limit, [&] { return met() || closed_ || stream.ended(); });
  return met()            ? Outcome::done
         : closed_        ? Outcome::closed
         : stream.ended() ? Outcome::gone
                          : Outcome::late;
}

TcpPeers::Outcome TcpPeers::wait_met(const RemoteTraffic& traffic, int peer, Limit limit) {
  return wait(peer, 0, limit, [&] { return traffic.peers[peer].arrivals[0].theirs.has_value(); });
}

TcpPeers::Outcome TcpPeers::wait_received(const RemoteTraffic& traffic, int peer, int exchange,
                                          Limit limit) {
  return wait(peer, exchange, limit,
              [&] { return traffic.peers[peer].arrivals[exchange].received; });
}

TcpPeers::Outcome TcpPeers::wait_sent(const RemoteTraffic& traffic, int peer, int exchange,
                                      Limit limit) {
  return wait(peer, exchange, limit, [&] { return traffic.peers[peer].departures[exchange].sent; });
}

std::string TcpPeers::fate(int peer) {
  std::lock_guard lock(mutex_);
  for (const Stream& stream : streams_[peer])
    if (!stream.error().empty() && stream.error() != kGone) return stream.error();
  return kGone;
}

}  // namespace heddle::transport
