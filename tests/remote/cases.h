// Test cases as text: "== TITLE", and the lines up to the next one.
#pragma once

#include <fstream>
#include <string>
#include <vector>

namespace heddle::test {

struct Case {
  std::string title;
  std::vector<std::string> lines;  // without empty ones at the end
};

/// The text above the first title is for people.
inline std::vector<Case> read_cases(const std::string& file) {
  std::vector<Case> cases;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("== ")) {
      cases.push_back({line.substr(3), {}});
    } else if (!cases.empty()) {
      cases.back().lines.push_back(line);
    }
  }
  for (Case& one : cases)
    while (!one.lines.empty() && one.lines.back().empty()) one.lines.pop_back();
  return cases;
}

}  // namespace heddle::test
