// Faults as whoever has made them reads them.
#pragma once

#include <string>
#include <vector>

#include "engine/recipe/parse.h"

namespace heddle::recipe {

/// "data.text: corpus.txt is empty", an error that begins with a key, as a fault where that key is
/// written; any other error as a fault of the file.
Fault fault_of(const Parsed& parsed, const std::string& message);

/// A fault of a key, where that is written.
Fault fault_at(const Parsed& parsed, const std::string& key, std::string what, std::string valid);

/// A line a fault.
std::string lines_of(const std::vector<Fault>& faults);

}  // namespace heddle::recipe
