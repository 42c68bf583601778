#include "engine/recipe/text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace heddle::recipe {

std::string quote(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04X}", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  const bool small = value != 0 && std::abs(value) < 1e-2;
  char buffer[64];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                     small                    ? std::chars_format::scientific
                                     : std::abs(value) < 1e15 ? std::chars_format::fixed
                                                              : std::chars_format::general);
  std::string text(buffer, written.ptr);
  const size_t exponent = text.find('e');
  if (exponent == std::string::npos) {
    return text.find('.') == text.npos ? fmt::format("{}.0", text) : text;
  }
  // "1e-05" to "1e-5", "1e+20" to "1e20".
  const bool negative = text[exponent + 1] == '-';
  const size_t digits = text.find_first_not_of("+-0", exponent + 1);
  return fmt::format("{}e{}{}", text.substr(0, exponent), negative ? "-" : "", text.substr(digits));
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string strings_text(const std::vector<std::string>& strings) {
  std::vector<std::string> all;
  all.reserve(strings.size());
  for (const std::string& text : strings) all.push_back(quote(text));
  return fmt::format("[{}]", joined(all, ", "));
}

}  // namespace heddle::recipe
