// Where the local user's home and SSH files are.
#pragma once

#include <string>

namespace heddle::remote {

/// The local user's home: $HOME, else what the system says.
std::string home();

/// The path with a leading `~` or `~user` replaced; as it is where there is no such user.
std::string in_home(const std::string& path);

/// `folder`, or ~/.ssh of the local user.
std::string ssh_folder_or_default(const std::string& folder);

}  // namespace heddle::remote
