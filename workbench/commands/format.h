// Times, values and tables as a terminal shows them: plain text, units always included
// (base/number_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/number_text.h"

namespace heddle::workbench {

/// The sign for a value that is not there.
inline constexpr const char* kNone = "-";

std::string time_text(double unix_seconds);  // 2026-11-21 11:42, local time
inline std::string or_none(Unit unit, const std::optional<double>& value) {
  return value ? unit_text(unit, *value) : kNone;
}

/// The columns that a text takes on a terminal.
size_t width_of(const std::string& text);
/// Its beginning and its end, where it takes more columns.
std::string elided(const std::string& text, size_t columns);

/// The columns of a table that give way where there is little room: names.
struct Fit {
  std::vector<size_t> names = {};
  size_t columns = 0;  // of the terminal; 0: stdout is none
};
/// The terminal that stdout is; else $COLUMNS; else 0.
size_t terminal_columns();

/// A cell of CSV, in quotes where RFC 4180 asks for them.
std::string csv_cell(const std::string& text);

/// A row a line, whatever is in its cells, in columns that line up, two blanks apart. `right`:
/// columns that end at the same place.
std::string table(std::vector<std::vector<std::string>> rows, const std::vector<size_t>& right = {},
                  const Fit& fit = {});

}  // namespace heddle::workbench
