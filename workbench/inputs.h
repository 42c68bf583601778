// The files that a recipe reads, and how they get to a host.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/recipe/parse.h"
#include "remote/node.h"

namespace heddle::workbench {

/// Faults of the recipe whose input files or folders are not on this machine, cannot be read, or
/// are empty.
std::vector<recipe::Fault> input_faults(const recipe::Parsed& parsed);

struct InputBytes {
  uint64_t all = 0;
  uint64_t missing = 0;  // at most so many are to be sent
};

/// The bytes of the inputs, and the part that a host with these blobs still lacks. Reads no file:
/// one that was never sent has no hash yet, and counts as missing.
InputBytes bytes_of_inputs(const recipe::Recipe& recipe, const std::set<std::string>& blobs);

/// One hash of all inputs' contents, wherever they are: 16 hexadecimal digits. A file of a gigabyte
/// or more counts by its size and some of its blocks. `hashing`: as of ship_inputs.
Result<std::string> hash_of_inputs(recipe::Recipe recipe, const remote::Progress& hashing);

/// Brings every input to the node, as ROOT/blobs/<SHA-256>/NAME, unless it is there already, and
/// gives the recipe with the paths on the node. `hashing` is
/// told the bytes of each large file while it is hashed; then `sending`, of no bytes once, and of
/// the bytes of each file that is sent.
Result<recipe::Recipe> ship_inputs(remote::Node& node, const std::string& root,
                                   recipe::Recipe recipe, const remote::Progress& hashing,
                                   const remote::Progress& sending);

}  // namespace heddle::workbench
