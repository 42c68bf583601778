#include "workbench/paths.h"

#include <cstdlib>
#include <filesystem>

#include "base/own_program.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

fs::path executable_folder() { return fs::path(own_program()).parent_path(); }

/// Where the portable archive has something that a build does not; else empty.
std::string brought(const char* path) {
  const fs::path there = (executable_folder() / path).lexically_normal();
  return fs::exists(there) ? there.string() : std::string();
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
  const std::string installed = brought("../share/heddle");
  return installed.empty() ? HEDDLE_RESOURCES : installed;
}

std::string samples_folder() { return resources_folder() + "/recipes"; }

std::string engine_path() {
  if (const char* set = std::getenv("HEDDLE_ENGINE"); set && *set) return set;
  const std::string bundled = brought("../engine/heddle-engine");
  return bundled.empty() ? (executable_folder() / "heddle-engine").string() : bundled;
}

std::string program_to_start() {
  const std::string launcher = started_by_loader() ? brought("../heddle") : std::string();
  return launcher.empty() ? own_program() : launcher;
}

std::string qt_plugins_folder() { return brought("../plugins"); }

}  // namespace heddle::workbench
