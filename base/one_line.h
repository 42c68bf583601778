// Names from outside where one line is all that they get: tables, lists, messages.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

/// The text made printable (say.h), with line ends and tabs spelled out ("\n", "\t"): it takes
/// one line, and nothing in it is unseen. The same text where there is nothing to spell out.
std::string one_line(std::string_view text);

}  // namespace heddle
