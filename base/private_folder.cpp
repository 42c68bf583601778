#include "base/private_folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <filesystem>

namespace heddle {

Result<> make_private_folders(const std::string& path) {
  namespace fs = std::filesystem;
  fs::path folder;
  for (const fs::path& part : fs::absolute(path).lexically_normal()) {
    folder /= part;
    if (part.empty() || mkdir(folder.c_str(), 0700) == 0) continue;
    struct stat about {};
    const int error = errno;
    if (stat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) continue;
    return fail("cannot make the folder {}: {}", folder.string(), strerror(error));
  }
  return {};
}

}  // namespace heddle
