// Values that would mend a fault: tried, not guessed, so that what is offered is right.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/parse.h"

namespace heddle::recipe {

/// One key set to one value, as TOML source.
struct Offer {
  std::string key;
  std::string value;
  bool operator==(const Offer&) const = default;
};

/// Alternatives for a recipe that has been parsed, and not resolved: values of the key at
/// fault, the nearest first, at most two below and two above, then the nearest of other keys that
/// the fault may come from. Each leaves fewer faults and none of these keys. Empty: nothing near
/// helps, or the fault is not one of numbers and choices.
std::vector<Offer> offers(const Parsed& parsed, const Fault& fault);

}  // namespace heddle::recipe
