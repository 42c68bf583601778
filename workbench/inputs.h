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
/// or more counts by its size and some of its blocks. `hashing`: as of shipment_of.
Result<std::string> hash_of_inputs(recipe::Recipe recipe, const remote::Progress& hashing);

struct InputFile {
  std::string path;
  std::string name;  // below the blob's folder
  std::string sha256;
};

/// A recipe's inputs with their hashes, ready to be brought to any number of nodes.
struct Shipment {
  recipe::Recipe recipe;
  std::vector<std::vector<InputFile>> blobs;  // an input each, in the recipe's order
};

/// Hashes all inputs. `hashing` receives the bytes of each large file meanwhile.
Result<Shipment> shipment_of(recipe::Recipe recipe, const remote::Progress& hashing);

/// Brings every input to the node, as ROOT/blobs/<SHA-256>/NAME, unless it is there already, and
/// gives the recipe with the paths on the node. `sending` is told of no bytes once, then of those
/// of each input. Threads: several nodes at once.
Result<recipe::Recipe> ship(const Shipment& shipment, remote::Node& node, const std::string& root,
                            const remote::Progress& sending);

}  // namespace heddle::workbench
