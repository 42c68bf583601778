#include "remote/ssh_pattern.h"

#include <algorithm>

namespace heddle::remote {
namespace {

constexpr size_t kLongest = 1023;  // a longer pattern matches nothing, here as in ssh

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
  size_t at = 0, in = 0;
  size_t star = pattern.npos, from = 0;  // the last `*`, and what it has taken so far
  while (in < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      from = in;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[in])) {
      ++at;
      ++in;
    } else if (star != pattern.npos) {
      at = star + 1;
      in = ++from;
    } else {
      return false;
    }
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool matches_list(std::string_view text, std::string_view list) {
  bool matched = false;
  while (!list.empty()) {
    const bool negated = list.starts_with('!');
    if (negated) list.remove_prefix(1);
    const std::string_view pattern = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), pattern.size() + 1));
    if (pattern.size() >= kLongest) return false;
    if (!matches_pattern(text, pattern)) continue;
    if (negated) return false;
    matched = true;
  }
  return matched;
}

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

}  // namespace heddle::remote
