// Patterns as ssh's files have them: `*` is any text, `?` any one character, all else itself.
#pragma once

#include <string>
#include <string_view>

namespace heddle::remote {

bool matches_pattern(std::string_view text, std::string_view pattern);

/// One of the patterns, separated by commas, must match, and none that begins with `!` may.
bool matches_list(std::string_view text, std::string_view list);

/// A-Z as a-z, all else as it is.
std::string lower(std::string_view text);

}  // namespace heddle::remote
