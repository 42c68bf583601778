// Every number that a file of the catalogue may give: its key, its range, its meaning.
#pragma once

#include <vector>

#include "engine/hardware/entry.h"

namespace heddle::hardware {

template <typename T>
struct NumberField {
  const char* key;
  Number T::*member;
  double least, most;  // beyond them a number is taken for a slip of the unit
  const char* unit;
  bool required = true;
};

template <typename T>
struct ProtocolField {
  const char* key;
  ByProtocol T::*member;
  double least, most;
  const char* unit;
};

/// Measured collectives by ranks.
struct RatesField {
  const char* key;
  std::vector<LinkRate> Node::*member;
};

const std::vector<NumberField<Device>>& numbers(const Device*);
const std::vector<NumberField<Node>>& numbers(const Node*);
const std::vector<NumberField<Network>>& numbers(const Network*);
const std::vector<NumberField<Program>>& numbers(const Program*);
const std::vector<ProtocolField<Device>>& by_protocol(const Device*);
const std::vector<ProtocolField<Node>>& by_protocol(const Node*);
const std::vector<ProtocolField<Network>>& by_protocol(const Network*);
const std::vector<ProtocolField<Program>>& by_protocol(const Program*);
const std::vector<RatesField>& measured_rates();

/// Ranges of the numbers in `measured_rates`.
inline constexpr double kMinLatencyUs = 0.1, kMaxLatencyUs = 1e6;
inline constexpr double kMinGbPerS = 1e-3, kMaxGbPerS = 1e5;
/// The largest spread of a number that has been measured.
inline constexpr double kMaxSpread = 10;

}  // namespace heddle::hardware
