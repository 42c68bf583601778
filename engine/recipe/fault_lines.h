// Faults as whoever has made them reads them.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/parse.h"

namespace heddle::recipe {

/// A line a fault.
std::string lines_of(const std::vector<Fault>& faults);

}  // namespace heddle::recipe
