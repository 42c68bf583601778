// What stands for something else in values of ~/.ssh/config: `%h`, `${NAME}`.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace heddle::remote {

/// What each letter after a % stands for.
using Tokens = std::map<char, std::string>;

/// `%%` is a %. Errors name the letter that stands for nothing and those that do.
Result<std::string> with_tokens(const std::string& text, const Tokens& tokens);

/// The same, and `${NAME}` is what the environment says; an error where it says nothing.
Result<std::string> with_tokens_and_environment(const std::string& text, const Tokens& tokens);

}  // namespace heddle::remote
