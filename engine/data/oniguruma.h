// Regular expressions in Oniguruma's Ruby syntax, which Hugging Face's tokenizers write, as
// PCRE2's.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::data {

/// The same expression for PCRE2, compiled with UTF, UCP and MULTILINE. Differences in syntax are
/// translated: \uHHHH, \h, \w, \v, POSIX brackets, scripts, {n,m}+, (?m), classes that nest or
/// intersect. An error names what has no translation.
Result<std::string> to_pcre2(std::string_view pattern);

/// Rust's \w as items of a class.
inline constexpr std::string_view kRustWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control})";

}  // namespace heddle::data
