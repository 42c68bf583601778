// The end of a command that is used wrongly.
#pragma once

#include <string>

#include "base/say.h"

namespace heddle::commands {

/// Prints why to stderr; the exit code.
inline int refuse(const std::string& why) {
  say(stderr, "{}\n", why);
  return 2;
}

}  // namespace heddle::commands
