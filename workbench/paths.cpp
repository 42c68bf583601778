#include "workbench/paths.h"

#include <cstdlib>
#include <filesystem>

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

fs::path executable_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace

std::string settings_folder() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config && *config) return std::string(config) + "/heddle";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/") + "/.config/heddle";
}

std::string cache_folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache) return std::string(cache) + "/heddle";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/") + "/.cache/heddle";
}

std::string resources_folder() {
  const fs::path installed = (executable_folder() / "../share/heddle").lexically_normal();
  return fs::exists(installed) ? installed.string() : HEDDLE_RESOURCES;
}

std::string samples_folder() { return resources_folder() + "/recipes"; }

std::string engine_path() {
  if (const char* set = std::getenv("HEDDLE_ENGINE"); set && *set) return set;
  return executable_folder() / "heddle-engine";
}

}  // namespace heddle::workbench
