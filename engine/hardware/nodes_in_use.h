// How many devices of each node a run takes: all of them, or fewer where nodes are used in part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/hardware/entry.h"

namespace heddle::hardware {

/// Devices of each node that so many ranks use, the same on each and on as few nodes as possible:
/// 64 of a rack's 72 for 128 ranks. Up to a node's devices, or a multiple of them: all. Nothing
/// where some node would be left with fewer than the others.
std::optional<int64_t> devices_in_use(const Node& node, int64_t ranks);

/// The nearest numbers of ranks below and above that nodes can be used with.
std::vector<int64_t> nearest_usable(const Node& node, int64_t ranks);

/// The node with the devices and network cards that so many ranks use; as it is where it cannot be
/// used so.
Node in_use(const Node& node, int64_t ranks);

/// "128 ranks use 64 of the 72 devices of each of 2 nodes"; empty where they use all.
std::string unused_words(const Node& node, int64_t ranks);

}  // namespace heddle::hardware
