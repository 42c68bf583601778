// Values as TOML source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::recipe {

/// A basic string with its quotes and escapes.
std::string quote(std::string_view text);

/// The shortest text that reads back as the same number, always with a point or an exponent: 3e-4,
/// 0.1, 500000.0.
std::string number_text(double value);

/// A list of strings: ["a", "b"].
std::string strings_text(const std::vector<std::string>& strings);

std::string joined(const std::vector<std::string>& words, std::string_view separator);

}  // namespace heddle::recipe
