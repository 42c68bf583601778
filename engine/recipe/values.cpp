#include "engine/recipe/values.h"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

namespace heddle::recipe {
namespace {

std::string grouped(int64_t value) {
  if (value < 1000) return fmt::format("{}", value);
  return fmt::format("{},{:03}", grouped(value / 1000), value % 1000);
}

// Letters, digits, "+", "-" and "." before "://" (RFC 3986).
bool is_address(std::string_view text) {
  const size_t end = text.find("://");
  if (end == 0 || end == std::string_view::npos) return false;
  return std::ranges::all_of(text.substr(0, end), [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) ||
           std::string_view("+-.").find(letter) != std::string_view::npos;
  });
}

/// The whole number in a TOML float: 1000 for 1e3 and 1000.0.
std::optional<int64_t> whole_number(const toml::node& node) {
  constexpr double kEnd = 0x1p63;
  const auto value = node.value_exact<double>();
  if (!value || std::trunc(*value) != *value || *value < -kEnd || *value >= kEnd) return {};
  return static_cast<int64_t>(*value);
}

const char* kind_of(const toml::node& node) {
  if (node.is_string()) return " is a string";
  if (node.is_integer()) return " is an integer";
  if (node.is_boolean()) return " is a boolean";
  const auto number = node.value_exact<double>();
  if (!number) return nullptr;
  if (!std::isfinite(*number)) return " is not finite";
  return std::trunc(*number) == *number
             ? " is a float, as all numbers with a point or an exponent are"
             : " is a number with a fraction";
}

}  // namespace

std::string describe(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) {
    return text->size() <= 60 ? quote(*text) : "a long string";
  }
  if (const auto integer = node.value_exact<int64_t>()) return fmt::format("{}", *integer);
  if (const auto number = node.value_exact<double>()) return number_text(*number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (node.is_array()) return "a list";
  if (node.is_table()) return "a table";
  return "a date or time";
}

Names<std::string> named(const std::vector<std::string>& all) {
  Names<std::string> names;
  for (const std::string& name : all) names.emplace_back(name, name);
  return names;
}

void complain_of_type(const Complain& complain, const toml::node& node, const std::string& type,
                      const std::string& valid, const std::string& suggestion) {
  const char* kind = kind_of(node);
  complain(node, kind != nullptr ? describe(node) + kind : fmt::format("is {}", describe(node)),
           valid.empty() ? type : type + ", " + valid, suggestion);
}

std::string range_words(int64_t low, int64_t high) {
  return high == kAny ? fmt::format("{} or more", low)
                      : fmt::format("{} to {}", low, grouped(high));
}

bool complain_of_address(const Complain& complain, const toml::node& node) {
  if (const toml::array* array = node.as_array())
    return std::ranges::any_of(*array, [&](const toml::node& element) {
      return element.is_string() && complain_of_address(complain, element);
    });
  const auto text = node.value_exact<std::string>();
  if (!text || !is_address(*text)) return false;
  constexpr std::string_view kFile = "file://";
  complain(node, quote(*text) + " is an address, and files are reached by paths alone",
           "a path; mount a bucket, download a dataset",
           text->starts_with(kFile) ? text->substr(kFile.size()) : "");
  return true;
}

std::optional<int64_t> read_integer(const toml::node& node, int64_t low, int64_t high,
                                    const Complain& complain) {
  const auto value = node.value_exact<int64_t>();
  if (!value) {
    const auto whole = whole_number(node);
    const bool is_valid = whole && *whole >= low && *whole <= high;
    complain_of_type(complain, node, "an integer", range_words(low, high),
                     is_valid ? std::to_string(*whole) : "");
  } else if (*value < low || *value > high) {
    complain(node, fmt::format("{} is out of range", *value), range_words(low, high), "");
    return std::nullopt;
  }
  return value;
}

bool Numbers::contains(double x) const {
  return std::isfinite(x) && (low_open ? x > low : x >= low) && (high_open ? x < high : x <= high);
}

std::optional<double> read_number(const toml::node& node, const Numbers& range,
                                  const Complain& complain) {
  const auto value = node.is_integer() || node.is_floating_point() ? node.value<double>()
                                                                   : std::optional<double>();
  if (!value) {
    complain_of_type(complain, node, "a number", range.words);
  } else if (!range.contains(*value)) {
    complain(node, fmt::format("{} is out of range", describe(node)), range.words, "");
    return std::nullopt;
  }
  return value;
}

std::optional<std::vector<std::string>> read_strings(const toml::node& node,
                                                     const Complain& complain) {
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    complain_of_type(complain, node, "a list of strings");
    return std::nullopt;
  }
  std::vector<std::string> result;
  for (const toml::node& element : *array) {
    if (auto text = element.value_exact<std::string>()) {
      result.push_back(*text);
    } else {
      complain_of_type(complain, element, "a string");
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace heddle::recipe
