// A name that nobody else has and nobody can guess, for what is being written.
#pragma once

#include <string>

namespace heddle {

/// 16 hexadecimal digits.
std::string unique_name();

}  // namespace heddle
