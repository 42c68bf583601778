// Folders of Heddle's own, into which nobody else looks.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle {

/// Makes the folder and those above it that are missing, each for this user alone (0700), whatever
/// the umask. Those that are there stay as they are.
Result<> make_private_folders(const std::string& path);

/// Fails where somebody else could put something in the place of what is there: goes to `path` as
/// the system does, one name and one link at a time. Each folder and link is this user's or root's,
/// and others can write to none; to one above only where they rename what is theirs alone (sticky,
/// as /tmp). What is missing cannot be wrong. remote/path_check.h is the same rule on a host.
Result<> check_private_folder(const std::string& path);

}  // namespace heddle
