// Brings the engine to a node by content: what is there already is not sent again.
#pragma once

#include <string>

#include "remote/bundle.h"
#include "remote/node.h"

namespace heddle::remote {

/// Where the engine is on the node, and what it took to get it there.
struct Deployed {
  std::string engine;       // absolute path of a program to run as `heddle-engine`
  std::string id;           // SHA-256 of the bundle's manifest
  uint64_t sent_bytes = 0;  // 0 when all was there
};

/// Deploys the bundle of `engine` (a heddle-engine on this machine with every shared library it
/// loads; for GPUs with the plug-in, and what it needs of CUDA that the node does not have itself)
/// under `root` (see Target::root) of the node. Nothing is executed on the node before its hash was
/// checked; files that are there already are checked by the manifest's hash and by size and time,
/// and again by hash where anything was touched; what is damaged is sent again. A root of somebody
/// else's, or one that others can write into, is refused. Any number of deployments may go on at
/// once.
Result<Deployed> deploy(Node& node, const std::string& root, const std::string& engine,
                        const Progress& progress = {}, Devices devices = Devices::cpus);

/// Whether `deploy` would have nothing to do.
Result<bool> is_deployed(Node& node, const std::string& root, const std::string& engine,
                         Devices devices = Devices::cpus);

/// The work left for `deploy`.
struct Undeployed {
  std::string id = {};  // of the engine where it is there whole, else empty
  uint64_t bytes = 0;   // to be sent; libraries that the node has are known by their sizes alone
};
Result<Undeployed> look_for_engine(Node& node, const std::string& root, const std::string& engine,
                                   Devices devices = Devices::cpus);

/// Removes all engines from under `root`. Run directories stay.
Result<> purge(Node& node, const std::string& root);

}  // namespace heddle::remote
