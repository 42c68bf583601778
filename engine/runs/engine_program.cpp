#include "engine/runs/engine_program.h"

#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>

namespace heddle::runs {

std::string engine_program() {
  if (const char* named = std::getenv("HEDDLE_ENGINE"); named && *named) return named;
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return path;
}

}  // namespace heddle::runs
