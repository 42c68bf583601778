#include "tests/engine/kernels/ptx.h"

#include <cxxabi.h>

#include <cstdlib>
#include <regex>
#include <sstream>
#include <vector>

namespace heddle::test {
namespace {

// The function's own name with the arguments of its template.
std::string name_of(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : symbol;
  std::free(text);
  for (const char* scope :
       {"heddle::kernels::cuda::", "heddle::cuda::", "(anonymous namespace)::", "void "})
    for (size_t at = 0; (at = name.find(scope)) != std::string::npos;)
      name.erase(at, std::string(scope).size());
  // "f<(Float8)0, 8>(int)": parentheses within the template's are not the function's.
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (name[i] == '(' && depth == 0) return name.substr(0, i);
  }
  return name;
}

// Bytes that a load or store moves in memory that all blocks see, 0 for anything else.
int bytes_moved(const std::string& line) {
  static const std::regex access(
      R"(\b(?:ld|st)((?:\.(?!v[24]\b)[a-z]+)*)(?:\.v([24]))?\.[a-z](\d+)\s)");
  std::smatch match;
  if (!std::regex_search(line, match, access)) return 0;
  const std::string where = match[1];
  for (const char* own : {".shared", ".param", ".local", ".const"})
    if (where.find(own) != std::string::npos) return 0;
  return (match[2].matched ? std::stoi(match[2]) : 1) * std::stoi(match[3]) / 8;
}

struct Line {
  std::string text;
  bool looped = false;
};

// Marks the lines between a label and a jump back to it.
void mark_loops(std::vector<Line>& lines) {
  static const std::regex label(R"(^(\$\w+):)"), jump(R"(\bbra(?:\.uni)?\s+(\$\w+))");
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(lines[i].text, match, label)) seen[match[1]] = i;
    if (!std::regex_search(lines[i].text, match, jump)) continue;
    if (const auto from = seen.find(match[1]); from != seen.end())
      for (size_t j = from->second; j <= i; ++j) lines[j].looped = true;
  }
}

Instructions count(std::vector<Line> lines) {
  mark_loops(lines);
  static const std::regex division(R"(\b(?:div|rem)\.[su]64\b)"),
      atomic(R"(\b(?:atom|red)\.(?!shared|async))"), ends(R"(^\$\w+:|\bbra\b|\bret\b)");
  Instructions all;
  int wide = 0, narrow = 0, narrow_looped = 0;
  const auto end_block = [&] {
    all.of_16_bytes += wide;
    if (wide > 0) {
      all.narrow_beside += narrow;
      all.narrow_beside_in_loops += narrow_looped;
    }
    wide = narrow = narrow_looped = 0;
  };
  for (const Line& line : lines) {
    if (std::regex_search(line.text, ends)) end_block();
    all.atomics += std::regex_search(line.text, atomic) ? 1 : 0;
    if (const int bytes = bytes_moved(line.text); bytes >= 16) {
      ++wide;
    } else if (bytes > 0 && bytes < 8) {
      ++narrow;
      narrow_looped += line.looped ? 1 : 0;
    }
    if (!line.looped) continue;
    all.fp64_in_loops += line.text.find(".f64") != std::string::npos ? 1 : 0;
    all.long_divisions_in_loops += std::regex_search(line.text, division) ? 1 : 0;
  }
  end_block();
  return all;
}

}  // namespace

std::map<std::string, Instructions> instructions_of(const std::string& ptx) {
  static const std::regex entry(R"(\.entry (\w+))");
  std::map<std::string, Instructions> kernels;
  std::istringstream in(ptx);
  std::string kernel;
  std::vector<Line> body;
  bool inside = false;
  for (std::string text; std::getline(in, text);) {
    std::smatch match;
    if (std::regex_search(text, match, entry)) kernel = match[1];
    if (text == "{") {
      inside = true;
    } else if (text == "}") {
      if (inside && !kernel.empty()) kernels[name_of(kernel)] = count(std::move(body));
      inside = false;
      kernel.clear();
      body.clear();
    } else if (inside) {
      body.push_back({text});
    }
  }
  return kernels;
}

std::map<std::string, Needs> needs_of(const std::string& report) {
  static const std::regex entry(R"(Compiling entry function '(\w+)')"),
      stack(R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)"),
      used(R"(Used (\d+) registers)");
  std::map<std::string, Needs> kernels;
  std::istringstream in(report);
  Needs* kernel = nullptr;
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_search(line, match, entry)) kernel = &kernels[name_of(match[1])];
    if (!kernel) continue;
    if (std::regex_search(line, match, stack)) {
      kernel->stack = std::stoi(match[1]);
      kernel->spilled = std::stoi(match[2]) + std::stoi(match[3]);
    }
    if (std::regex_search(line, match, used)) kernel->registers = std::stoi(match[1]);
  }
  return kernels;
}

}  // namespace heddle::test
