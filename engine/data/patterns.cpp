#include "engine/data/patterns.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>

namespace heddle::data {

namespace fs = std::filesystem;

std::vector<std::string> matches_of(const std::string& path) {
  std::error_code unknown;
  if (path.find_first_of("*?[") == std::string::npos || fs::exists(path, unknown)) return {path};
  glob_t matches{};
  std::vector<std::string> paths;
  if (glob(path.c_str(), 0, nullptr, &matches) == 0)
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  globfree(&matches);
  std::ranges::sort(paths, [](const fs::path& a, const fs::path& b) { return a < b; });
  return paths;
}

}  // namespace heddle::data
