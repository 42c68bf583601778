// Patterns as ssh's files have them: `*` is any text, `?` any one character, all else itself.
#pragma once

#include <string>
#include <string_view>

namespace heddle::remote {

bool matches_pattern(std::string_view text, std::string_view pattern);

/// Of patterns separated by commas one must match, and none of those that begin with `!` may.
bool matches_list(std::string_view text, std::string_view list);

/// A-Z as a-z, all else as it is.
std::string lower(std::string_view text);

}  // namespace heddle::remote
