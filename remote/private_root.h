// The target's root folder on a node: nobody else can look into it or put something in its place.
#pragma once

#include <string>
#include <vector>

#include "remote/node.h"

namespace heddle::remote {

/// Makes `root` and these folders of it (0700) where they are missing. An error names the folder or
/// the link on the way there that belongs to someone else, or that others can write to, and the
/// command that mends it.
Result<> make_private_root(Node& node, const std::string& root,
                           const std::vector<std::string>& folders);

}  // namespace heddle::remote
