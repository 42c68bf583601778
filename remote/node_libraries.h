// Libraries of CUDA and of LibTorch that a node has itself, so that they need not travel.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "remote/bundle.h"
#include "remote/node.h"

namespace heddle::remote {

/// How sure it must be that a file of the node is one of the bundle's.
enum class Likeness { size, content };

/// The files that the node has where toolkits and Python's packages put them (see
/// probe::cuda_folders): path in the bundle → path on the node. Only files that nobody but the user
/// and root can change or replace.
Result<std::map<std::string, std::string>> node_libraries(Node& node,
                                                          const std::vector<BundleFile>& files,
                                                          Likeness likeness);

}  // namespace heddle::remote
