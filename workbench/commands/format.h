// Times, values and tables as a terminal shows them: plain text, units always included
// (base/number_text.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/number_text.h"
#include "storage/run.h"

namespace heddle::workbench {

/// The sign for a value that is not there.
inline constexpr const char* kNone = "-";

std::string time_text(double unix_seconds);  // 2026-11-21 11:42, local time
/// A value under its name's unit: "peak_bytes" in GiB, "step_seconds" in s.
std::string value_text(const std::string& name, const storage::Value& value);

template <typename Text>
std::string or_none(const std::optional<double>& value, Text text) {
  return value ? text(*value) : kNone;
}

/// Columns that line up, two blanks apart. `right`: columns that end at the same place.
std::string table(const std::vector<std::vector<std::string>>& rows,
                  const std::vector<size_t>& right = {});

}  // namespace heddle::workbench
