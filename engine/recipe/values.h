// Single TOML values: read with a complaint when they are wrong, and written back as TOML source.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/recipe/nearest.h"
#include "engine/recipe/text.h"
#include "engine/recipe/toml.h"

namespace heddle::recipe {

/// Where a reader says what is wrong with a node.
using Complain = std::function<void(const toml::node& node, std::string what, std::string valid,
                                    std::string suggestion)>;

/// A node in words: `"abc"`, `12`, `a list`.
std::string describe(const toml::node& node);

/// "12 is an integer; valid: a string, …".
void complain_of_type(const Complain& complain, const toml::node& node, const std::string& type,
                      const std::string& valid = "", const std::string& suggestion = "");

/// Complains, and returns true, where a path or one of a list is an address as "s3://bucket".
bool complain_of_address(const Complain& complain, const toml::node& node);

inline constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

/// "1 or more", "1 to 1,048,576".
std::string range_words(int64_t low, int64_t high);
std::optional<int64_t> read_integer(const toml::node& node, int64_t low, int64_t high,
                                    const Complain& complain);

/// A range of real numbers.
struct Numbers {
  double low;
  double high;
  bool low_open = false;   // low itself is out of range
  bool high_open = false;  // high itself is out of range
  std::string words;       // "0 or more"
  bool contains(double x) const;
};

inline const Numbers kPositive = {0, HUGE_VAL, true, false, "more than 0"};
inline const Numbers kNotNegative = {0, HUGE_VAL, false, false, "0 or more"};
inline const Numbers kFraction = {0, 1, false, false, "0 to 1"};
inline const Numbers kMomentum = {0, 1, false, true, "0 or more and less than 1"};

std::optional<double> read_number(const toml::node& node, const Numbers& range,
                                  const Complain& complain);

std::optional<std::vector<std::string>> read_strings(const toml::node& node,
                                                     const Complain& complain);

/// The words of an enumeration and what they stand for.
template <typename T>
using Names = std::vector<std::pair<std::string, T>>;

/// Words that stand for themselves.
Names<std::string> named(const std::vector<std::string>& words);

template <typename T>
std::vector<std::string> words(const Names<T>& names) {
  std::vector<std::string> result;
  for (const auto& [word, value] : names) result.push_back(word);
  return result;
}

template <typename T>
std::string word_of(const Names<T>& names, const T& value) {
  const auto found = std::ranges::find(names, value, &std::pair<std::string, T>::second);
  return found == names.end() ? "" : found->first;
}

/// "fp32 | bf16".
inline std::string choices(const std::vector<std::string>& words) { return joined(words, " | "); }

template <typename T>
std::optional<T> read_choice(const toml::node& node, const Names<T>& names,
                             const Complain& complain) {
  const auto word = node.value_exact<std::string>();
  if (!word) {
    complain_of_type(complain, node, "a string", choices(words(names)));
    return std::nullopt;
  }
  for (const auto& [name, value] : names) {
    if (name == *word) return value;
  }
  complain(node, fmt::format("{} is not known", quote(*word)), choices(words(names)),
           nearest(*word, words(names)));
  return std::nullopt;
}

}  // namespace heddle::recipe
