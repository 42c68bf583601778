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
/// $HEDDLE_ENGINE where that is set (another build, a test's), else the bundle's of a portable
/// archive (../engine), else heddle-engine next to this executable.
std::string engine_path();
/// How this program is started again: the portable archive's launcher, or this executable.
std::string program_to_start();
/// Qt's plug-ins that the portable archive brings; empty where Qt's own folder holds.
std::string qt_plugins_folder();

}  // namespace heddle::workbench
