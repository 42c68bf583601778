// Lines of ssh_config files: keyword and words, as ssh splits them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::remote {

struct ConfigLine {
  std::string place;               // FILE:LINE
  std::string keyword;             // as it is written
  std::string key;                 // the same in lower case
  std::vector<std::string> words;  // quotes and escapes resolved, without the comment
  std::string rest;                // what comes after the keyword, as it is written
  std::string fault;  // "FILE:LINE: …" where ssh would not take its value; else empty
  bool operator==(const ConfigLine&) const = default;
};

/// Nothing for an empty line or a comment. `text` has no line end.
Result<std::vector<ConfigLine>> config_line(const std::string& place, std::string_view text);

/// Words split as Match's: by blanks or one `=`, grouped by double quotes.
std::vector<std::string> match_words(std::string_view text);

/// Files as they are met, each read once.
class ConfigFiles {
 public:
  /// Who may own the file: `user_or_root` refuses one that somebody else owns or can write to.
  enum class Owner { any, user_or_root };
  /// An absent file has no lines.
  Result<const std::vector<ConfigLine>*> lines(const std::string& file, Owner owner);
  /// The same files with the same lines.
  bool operator==(const ConfigFiles&) const = default;

 private:
  std::map<std::string, std::vector<ConfigLine>> read_;
};

}  // namespace heddle::remote
