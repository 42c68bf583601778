// Command lines: an option that is given an empty value (--name=), as a script does whose variable
// is empty. CLI11 would take the next word for it.
#pragma once

#include <string_view>

#include "base/result.h"

namespace heddle {

/// Fails on the first such option.
inline Result<> check_option_values(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word == "--") break;
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    word.remove_suffix(1);
    return fail("{0}= has no value; valid: {0}=VALUE, or leave it out", word);
  }
  return {};
}

}  // namespace heddle
