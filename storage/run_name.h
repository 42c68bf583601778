// Which names a run may have: they are looked up, and printed in one line.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::storage {

/// Fails on an empty name, on one that a command takes for an option, and on one with line ends,
/// tabs, or characters that nobody sees or that turn the direction of writing (one_line.h).
Result<> check_name(const std::string& name);

}  // namespace heddle::storage
