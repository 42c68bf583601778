// Names from outside where one line is all that they get: tables, lists, messages.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

/// What is printable of the text (say.h), line ends and tabs spelled out too ("\n", "\t"): it takes
/// one line, and nothing in it is unseen. The same text where there is nothing to spell out.
std::string one_line(std::string_view text);

}  // namespace heddle
