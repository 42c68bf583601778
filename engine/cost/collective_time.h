// How long a collective of devices of the catalogue takes; numbers in, seconds out.
#pragma once

#include <cstdint>

#include "engine/hardware/entry.h"

namespace heddle::cost {

/// How a process group's ranks lie on nodes; the same number on each.
struct Placement {
  int64_t ranks = 1;
  int64_t nodes = 1;

  int64_t per_node() const { return (ranks + nodes - 1) / nodes; }
  bool operator==(const Placement&) const = default;
};

enum class Collective { gather, all_reduce, all_to_all, to_neighbour };

/// Seconds of a collective that nothing else disturbs; a scatter takes as long as a gather. `bytes`
/// count the whole tensors: all ranks' shards, or what one rank reduces, exchanges or sends.
///
/// latency + bytes / rate, the least over NCCL's protocols and, for an all-reduce, over ring and
/// tree (NCCL 2.28, src/graph/tuning.cc):
///
///     ring latency   base + (ranks − nodes) · step inside + (nodes − 1) · step outside
///                    (an all-reduce goes around twice)
///     tree latency   base + 2 · ((ranks a node − 1) · step inside + log2(nodes) · step outside)
///     ring rate      link · ranks / (ranks − 1), half of it for an all-reduce
///     tree rate      link · 0.92 / 2
///
/// where `link` is what a node's ranks reach inside it or, if that is less, out of it: as many
/// network cards as the group has a share in. LL moves half as much as Simple, LL128 15/16. Inside
/// a node the measured time is Simple's, between two numbers of ranks in between.
double collective_seconds(Collective collective, double bytes, const Placement& placement,
                          const hardware::Node& node, const hardware::Network& network);

}  // namespace heddle::cost
