// Placeholders in values of ~/.ssh/config: `%h`, `${NAME}`.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace heddle::remote {

/// The meaning of each letter after a %.
using Tokens = std::map<char, std::string>;

/// `%%` is a %. Errors name the letter without a meaning and the letters with one.
Result<std::string> with_tokens(const std::string& text, const Tokens& tokens);

/// The same, and `${NAME}` is what the environment says; an error where it says nothing.
Result<std::string> with_tokens_and_environment(const std::string& text, const Tokens& tokens);

}  // namespace heddle::remote
