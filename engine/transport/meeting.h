// How the ranks of a group find each other: who shares a host with whom, whose memory can be read.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "engine/transport/control_page.h"
#include "engine/transport/flight_recorder.h"
#include "engine/transport/handshake.h"
#include "engine/transport/memory_peer.h"
#include "engine/transport/tcp_peers.h"

namespace heddle::transport {

struct GroupOptions {
  std::string group = "world";             // named in errors
  std::vector<int> ranks;                  // of the run, by rank in the group; empty: 0, 1, …
  std::string host;                        // processes with the same one share memory; empty: found
  std::string address = "127.0.0.1";       // of this host, as other hosts reach it
  bool memory = true;                      // false: TCP between ranks of one host, too
  bool through_host = false;               // of GPUs, too: through the memory of their hosts
  std::optional<Credentials> credentials;  // what ranks that meet over TCP prove themselves by
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  std::shared_ptr<FlightRecorder> flight;  // null: nobody reads it
};

/// A group's ranks, met.
struct Meeting {
  MappedPage page;                                // this rank's
  std::vector<std::optional<MemoryPeer>> memory;  // by rank: those whose memory is read
  std::unique_ptr<TcpPeers> tcp;                  // for the others; null where there are none
  int local_ranks = 1;                            // on this host, this one too
  int remote_ranks = 0;                           // not read: the most that any rank has
  std::string warning;                            // why ranks of one host use TCP; else empty
};

/// Every rank of the group calls this with the same store. Throws c10::Error when a rank does not
/// come.
Meeting meet(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
             const GroupOptions& options);

/// This boot of this machine, as far as processes see each other and share its network.
std::string host_identity();

}  // namespace heddle::transport
