// The target's root folder on a node: nobody else can look into it or put something in its place.
#pragma once

#include "remote/node.h"

namespace heddle::remote {

/// Makes `root` (0700) where it is missing. An error names the folder on the way there that belongs
/// to someone else, or that others can write to, and the command that mends it.
Result<> make_private_root(Node& node, const std::string& root);

}  // namespace heddle::remote
