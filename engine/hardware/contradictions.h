// Numbers of one entry that cannot be true together.
#pragma once

#include <string>
#include <vector>

#include "engine/hardware/entry.h"

namespace heddle::hardware {

/// A key whose number another one rules out.
struct Contradiction {
  std::string key, what, valid;
};

std::vector<Contradiction> contradictions(const Device& device);
std::vector<Contradiction> contradictions(const Node& node);
std::vector<Contradiction> contradictions(const Network& network);
/// None as yet: its numbers do not depend on each other.
std::vector<Contradiction> contradictions(const Program& program);

/// Contradictions between a node and its device.
std::vector<Contradiction> contradictions(const Node& node, const Device& device);

}  // namespace heddle::hardware
