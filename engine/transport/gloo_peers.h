// The ranks whose memory this one cannot read, reached through Gloo, point to point: straight from
// the ranges that are offered and straight to where they belong.
//
// Everything of a collective is sent and received from the moment it is started, so that the wire
// never idles between two of them. The tags of its messages hold a hash of its descriptor: what
// does not match is never delivered, and the descriptors, which travel first, tell why.
//
// Thread contract: `start` from one thread at a time, `abort` from any, the rest from the
// transport's thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/transport/operation.h"

namespace heddle::transport {

/// One collective's traffic with the remote ranks.
struct RemoteTraffic {
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;
  struct Peer {
    Descriptor theirs;
    Works descriptor;  // its descriptor's coming
    Works received;    // what an exchange brings
    at::Tensor rows;   // for a sum: its parts, one after the other
  };
  std::vector<Peer> peers;  // by rank; those of other ranks stay empty
  Works sent;
  int broken = -1;  // the rank whose connection was gone when something was started
};

class GlooPeers {
 public:
  /// Every rank of the group calls this. `remote[r]`: rank r is reached this way. `address`: of
  /// this host, as the others reach it. Throws c10::Error.
  GlooPeers(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
            std::vector<bool> remote, const std::string& address,
            std::chrono::milliseconds timeout);

  bool remote(int rank) const { return remote_[rank]; }

  /// Sends and receives all that needs no other exchange before it.
  void start(const Operation& operation, RemoteTraffic& traffic);
  /// The second exchange of a large all-reduce.
  void start_second(const Operation& operation, RemoteTraffic& traffic);

  using Limit = std::chrono::milliseconds;
  /// These throw what Gloo throws: a timeout, or a connection that is gone.
  static const Descriptor& descriptor(RemoteTraffic& traffic, int peer, Limit limit);
  static void wait_received(RemoteTraffic& traffic, int peer, Limit limit);
  static void wait_sent(RemoteTraffic& traffic, Limit limit);

  /// Gives the memory of rows back.
  void recycle(RemoteTraffic& traffic);

  /// Ends all waiting for it with an error; any thread.
  void abort(RemoteTraffic& traffic);

 private:
  void exchange(const Operation& operation, int exchange, RemoteTraffic& traffic);
  void send(const std::vector<Range>& ranges, int peer, int tag, RemoteTraffic& traffic);
  void receive(const std::vector<Range>& ranges, int peer, int tag, RemoteTraffic& traffic,
               RemoteTraffic::Works& works);
  at::Tensor take_rows(uint64_t bytes);

  const int rank_, size_;
  const std::vector<bool> remote_;
  c10::intrusive_ptr<c10d::Backend> gloo_;
  std::mutex mutex_;  // of what follows and of the lists of works
  std::vector<at::Tensor> spare_rows_;
};

}  // namespace heddle::transport
