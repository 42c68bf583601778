// A line of a table without quotes, cell by cell.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::published {

/// One line's cells, from the first to the last; keeps the first fault.
class Cells {
 public:
  explicit Cells(const std::string& line) {
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells_.push_back(std::move(cell));
  }

  void operator()(std::string& member) { member = next(); }
  /// A number above 0.
  template <typename T>
  void operator()(T& member) {
    read(
        member, [](T value) { return value > 0; }, "no number above 0");
  }
  template <typename T>
  void any_number(T& member) {
    read(
        member, [](T) { return true; }, "no number");
  }

  std::string fault() const {
    if (!fault_.empty()) return fault_;
    if (cells_.size() != at_) return fmt::format("{} columns; needed: {}", cells_.size(), at_);
    return {};
  }

 private:
  std::string next() {
    const size_t at = at_++;
    return at < cells_.size() ? cells_[at] : std::string();
  }

  template <typename T, typename Sound>
  void read(T& member, const Sound& is_sound, const char* otherwise) {
    const std::string cell = next();
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), member);
    const bool whole = error == std::errc() && end == cell.data() + cell.size();
    if (!(whole && is_sound(member)) && fault_.empty())
      fault_ = fmt::format("column {}: \"{}\" is {}", at_, cell, otherwise);
  }

  std::vector<std::string> cells_;
  size_t at_ = 0;
  std::string fault_;
};

/// The lines of a table after its header; `read` takes a line's cells. An error names line and
/// column.
template <typename T, typename Read>
Result<std::vector<T>> read_table(std::string_view table, std::string_view header,
                                  const Read& read) {
  std::istringstream lines{std::string(table)};
  std::string line;
  if (!std::getline(lines, line) || line != header)
    return fail("line 1: the header is not {}", header);
  std::vector<T> all;
  for (int number = 2; std::getline(lines, line); ++number) {
    Cells cells(line);
    all.push_back(read(cells));
    if (const std::string fault = cells.fault(); !fault.empty())
      return fail("line {}: {}", number, fault);
  }
  return all;
}

}  // namespace heddle::published
