// The program that ranks and supervisors are started from.
#pragma once

#include <string>

namespace heddle::runs {

/// $HEDDLE_ENGINE where a wrapper sets it (then /proc/self/exe is the loader), else this program.
std::string engine_program();

}  // namespace heddle::runs
