// Several nodes get something at once, and nodes that share a folder get it once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "remote/node.h"

namespace heddle::remote {

struct Receivers {
  std::vector<Node*> nodes;
  std::string root;           // the folder that some may share (see Node::expand); with `blobs`
  std::vector<char> have_it;  // by node: nothing is to be sent there; empty: no node has it
};

/// Brings it to the node of this number; leaves what is there already. On a thread of its own.
using Bring = std::function<Result<>(size_t node, const Progress& progress)>;

/// Calls `bring` for each node: at once, but after the node whose root it shares. `progress` gets
/// the sums. Where one fails, the others stop, and their parts stay.
Result<> bring_to_all(const Receivers& receivers, const Bring& bring, const Progress& progress);

}  // namespace heddle::remote
