// Folders of Heddle's own, into which nobody else looks.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle {

/// Makes the folder and those above it that are missing, each for this user alone (0700), whatever
/// the umask. Those that are there stay as they are.
Result<> make_private_folders(const std::string& path);

}  // namespace heddle
