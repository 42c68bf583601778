// Places of things on this machine (XDG base directories), and files next to the executable.
// The store's own path is storage::default_path.
#pragma once

#include <string>

namespace heddle::workbench {

/// $XDG_CONFIG_HOME/heddle, or ~/.config/heddle.
std::string settings_folder();
/// $XDG_CACHE_HOME/heddle, or ~/.cache/heddle.
std::string cache_folder();
/// ../share/heddle from the executable when that exists, else the source tree's resources.
std::string resources_folder();
/// The sample recipes there.
std::string samples_folder();
/// $HEDDLE_ENGINE where that is set (another build, a test's), else heddle-engine next to this
/// executable.
std::string engine_path();

}  // namespace heddle::workbench
