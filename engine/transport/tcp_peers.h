// The ranks whose memory this one cannot read, reached over TCP: straight from the ranges that are
// offered and straight to where they belong, on a thread of its own.
//
// Everything of a collective is sent and received from the moment it is started, so that the wire
// never idles between two of them. Each message says which collective it is of: what does not match
// is never received, and the descriptor that came tells why.
//
// Thread contract: `start` from one thread at a time, `close` from any, the rest from the
// transport's thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/transport/operation.h"
#include "engine/transport/remote_sockets.h"
#include "engine/transport/stream.h"

namespace heddle::transport {

/// One collective's traffic with the remote ranks. It stays where it is from its start until it
/// has ended, or until the peers are gone.
struct RemoteTraffic {
  struct Peer {
    std::array<Departure, kExchanges> departures;
    std::array<Arrival, kExchanges> arrivals;
    at::Tensor rows;  // for a sum: its parts, one after the other
  };
  std::vector<Peer> peers;  // by rank; other ranks' stay empty
};

/// Runs the streams to all remote ranks of a group.
class TcpPeers {
 public:
  /// `sockets`: by rank; remote ranks' are connected.
  TcpPeers(int rank, std::vector<RemoteSockets> sockets);
  ~TcpPeers();

  bool remote(int rank) const { return remote_[rank]; }

  /// Sends and receives all that needs no other exchange before it.
  void start(const Operation& operation, RemoteTraffic& traffic);
  /// The second exchange of a large all-reduce.
  void start_second(const Operation& operation, RemoteTraffic& traffic);

  enum class Outcome { done, late, gone, closed };
  using Limit = std::chrono::milliseconds;
  /// Until the peer has said which collective it is in (`theirs`).
  Outcome wait_met(const RemoteTraffic& traffic, int peer, Limit limit);
  Outcome wait_received(const RemoteTraffic& traffic, int peer, int exchange, Limit limit);
  Outcome wait_sent(const RemoteTraffic& traffic, int peer, int exchange, Limit limit);

  /// The reason why a peer is `gone` (channel.h).
  std::string fate(int peer);

  /// Ends all waiting; any thread.
  void close();

 private:
  void exchange(const Operation& operation, int exchange, RemoteTraffic& traffic);
  template <typename Met>
  Outcome wait(int peer, int exchange, Limit limit, Met met);
  void wake();
  void loop();

  const int rank_, size_;
  std::vector<bool> remote_;
  const int wake_fd_;

  std::mutex mutex_;  // of what follows and of the traffic
  std::condition_variable changed_;
  std::vector<std::vector<Stream>> streams_;  // by rank and exchange
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace heddle::transport
