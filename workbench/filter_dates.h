// Dates and ages as the runs filter reads them. Any thread.
#pragma once

#include <optional>
#include <string_view>

namespace heddle::workbench {

/// From the first to before the second, in Unix seconds.
struct TimeStretch {
  double from = 0, until = 0;
  bool moment = false;  // "2d": in order it is its end alone, two days ago
};

/// Reads "2026-01-31", "2026-01-31 14:10", "31 Jan", "today", "yesterday", "now", "17 min ago" and
/// "2d", which is two days ago. None: it is no date. In local time, as the table writes it.
std::optional<TimeStretch> read_date(std::string_view text, double now);

}  // namespace heddle::workbench
