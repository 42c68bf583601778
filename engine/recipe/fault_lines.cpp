#include "engine/recipe/fault_lines.h"

namespace heddle::recipe {

Fault fault_of(const Parsed& parsed, const std::string& message) {
  Fault fault;
  fault.file = parsed.file;
  fault.what = message;
  const size_t colon = message.find(": ");
  if (colon == std::string::npos || message.find_first_of(" /") < colon) return fault;
  fault.key = message.substr(0, colon);
  fault.what = message.substr(colon + 2);
  if (const auto place = parsed.places.find(fault.key); place != parsed.places.end()) {
    fault.file = place->second.file;
    fault.line = place->second.line;
    fault.column = place->second.column;
  }
  return fault;
}

Fault fault_at(const Parsed& parsed, const std::string& key, std::string what, std::string valid) {
  Fault fault{.file = parsed.file,
              .key = key,
              .what = std::move(what),
              .valid = std::move(valid),
              .suggestion = ""};
  if (const auto place = parsed.places.find(key); place != parsed.places.end()) {
    fault.line = place->second.line;
    fault.column = place->second.column;
  }
  return fault;
}

std::string lines_of(const std::vector<Fault>& faults) {
  std::string lines;
  for (const Fault& fault : faults) lines += (lines.empty() ? "" : "\n") + fault.str();
  return lines;
}

}  // namespace heddle::recipe
