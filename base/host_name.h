// This machine's own name.
#pragma once

#include <unistd.h>

#include <string>

namespace heddle {

/// "unknown" where the system does not tell.
inline std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : "unknown";
}

}  // namespace heddle
