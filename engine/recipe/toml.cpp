#include "engine/recipe/toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/recipe/limits.h"

namespace heddle::recipe {
namespace {

constexpr size_t kMaxParts = 32;

/// Goes through a text as TOML cuts it (keys and numbers, strings, comments) and finds the first
/// key with too many parts: each is a table in a table, and those are removed by recursion.
class Keys {
 public:
  explicit Keys(std::string_view text) : text_(text) {}

  /// Where it is; none: there is none.
  std::optional<toml::source_position> too_long() {
    for (size_t dots = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      if (std::string_view("\n=,[]{}#").find(c) != std::string_view::npos) dots = 0;
      if (c == '.' && ++dots == kMaxParts) return position();
      ++at_;
    }
    return std::nullopt;
  }

 private:
  bool has(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool long_one = has(three);
    const std::string_view end = std::string_view(three).substr(0, long_one ? 3 : 1);
    for (at_ += end.size(); at_ < text_.size() && !has(end); ++at_) {
      if (!long_one && text_[at_] == '\n') return;
      if (quote == '"' && text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + end.size(), text_.size());
    // A long one may end with quotes of its own.
    while (long_one && at_ < text_.size() && text_[at_] == quote) ++at_;
  }

  toml::source_position position() const {
    const std::string_view before = text_.substr(0, at_);
    const size_t line = before.rfind('\n');
    const auto code_points = [](std::string_view text) {
      return std::ranges::count_if(
          text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    };
    const auto lines = std::ranges::count(before, '\n');
    const auto columns =
        code_points(line == std::string_view::npos ? before : before.substr(line + 1));
    return {static_cast<toml::source_index>(lines + 1),
            static_cast<toml::source_index>(columns + 1)};
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

toml::parse_result parse_toml(std::string_view text) {
  const auto refuse = [](std::string what, toml::source_position at) {
    return toml::parse_result(toml::parse_error(std::move(what), at));
  };
  if (text.size() > kMaxRecipeBytes)
    return refuse(fmt::format("{} bytes; at most {} are read", text.size(), kMaxRecipeBytes),
                  {1, 1});
  if (const auto at = Keys(text).too_long())
    return refuse(fmt::format("a key of more than {} parts", kMaxParts), *at);
  return toml::parse(text);
}

}  // namespace heddle::recipe
