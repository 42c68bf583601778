// Pass: every buffer of the step gets its place in one arena, by the time that it is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/graph/ir.h"

namespace heddle::passes {

/// The alignment of a CPU's buffers; GPUs' kernels and copies are at their best at 512.
inline constexpr int64_t kHostAlignment = 64, kGpuAlignment = 512;

/// Where everything is. Offsets and sizes are bytes, multiples of the alignment.
struct MemoryPlan {
  /// By value: the value whose memory it is (itself, what it is a view of or joined to, or what it
  /// was before a node wrote to it).
  std::vector<graph::ValueId> root;
  /// By value, for roots in the arena and what is joined to them: offset; -1 for all others.
  std::vector<int64_t> place;
  /// By value, for roots: bytes, with the padding that collectives ask for.
  std::vector<int64_t> bytes;
  /// By value, for roots in the arena: the first and the last node at which it holds something;
  /// what takes another one's place begins after that one's last node.
  std::vector<int32_t> from, until;
  /// By node: offset and bytes of its scratch memory.
  std::vector<int64_t> scratch_place, scratch_bytes;
  int64_t arena_bytes = 0;
  int64_t alignment = kHostAlignment;
  /// The most that is alive at one time: what no placement can go below.
  int64_t live_bytes = 0;
};

/// Bytes that a node's operator allocates for itself besides its results; a collective's are its
/// own until it is waited for.
using ScratchBytes = std::function<int64_t(const graph::Graph& graph, const graph::Node& node)>;

/// Walks the nodes in order; each root is placed at the lowest offset that is free from its making
/// to its last use, or where an argument is that ends there (in_place.h). What a collective reads
/// stays until it is waited for; what a `next_step` node makes stays for the whole step.
/// Near-linear in the number of nodes.
MemoryPlan plan_memory(const graph::Graph& graph, const ScratchBytes& scratch_bytes,
                       int64_t alignment = kHostAlignment);

}  // namespace heddle::passes
