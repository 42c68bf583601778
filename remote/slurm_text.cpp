#include "remote/slurm_text.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace heddle::remote {

std::vector<std::string> fields_of(std::string_view line, size_t count) {
  std::vector<std::string> fields;
  while (fields.size() + 1 < count) {
    const size_t end = line.find('|');
    if (end == line.npos) return {};
    fields.emplace_back(line.substr(0, end));
    line.remove_prefix(end + 1);
  }
  fields.emplace_back(line);
  return fields;
}

std::optional<int64_t> number_in(std::string_view text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || number < 0) return std::nullopt;
  return number;
}

std::string value_of(const std::string& words, const std::string& key) {
  const size_t at = (" " + words).find(" " + key + "=");
  if (at == std::string::npos) return {};
  const size_t begin = at + key.size() + 1;
  return words.substr(begin, words.find_first_of(" \n", begin) - begin);
}

GpuCount gpus_in(std::string_view text) {
  GpuCount found;
  while (!text.empty()) {
    // A comma within parentheses does not end it.
    size_t end = 0;
    for (int depth = 0; end < text.size() && (depth > 0 || text[end] != ','); ++end)
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    std::string_view one = text.substr(0, std::min(end, text.find('(')));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!one.starts_with("gpu:")) continue;
    one.remove_prefix(4);
    const size_t colon = one.rfind(':');
    const auto count = number_in(colon == one.npos ? one : one.substr(colon + 1));
    if (!count || *count > std::numeric_limits<int32_t>::max() - found.gpus) continue;
    found.gpus += static_cast<int32_t>(*count);
    if (colon != one.npos && found.kind.empty()) found.kind = one.substr(0, colon);
  }
  return found;
}

}  // namespace heddle::remote
