// How a report's pictures distinguish runs: a number that its table has too, a colour, and
// dashes from the ninth run on. Reports are light: they are read on paper as well.
#pragma once

#include <array>
#include <string>

#include "base/run_palette.h"
#include "workbench/report/report_data.h"

namespace heddle::workbench {

inline constexpr const char* kInk = "#1a1e26";
inline constexpr const char* kMutedInk = "#586274";
inline constexpr const char* kFrame = "#d9dee6";

/// "1" for the first.
inline std::string run_number(size_t run) { return std::to_string(run + 1); }

/// The colour that a person gave to the run, darkened if it would be hard to see on paper; else the
/// colour of its number.
std::string run_color(const storage::RunSummary& summary, size_t run);

inline const std::string& color_of(const Report& report, size_t run) { return report.colors[run]; }

/// As SVG has it; empty: solid.
inline std::string run_dashes(size_t run) {
  constexpr std::array kDashes = {"", "7 3", "2 3", "9 3 2 3"};
  return kDashes[run / kRunPalette % kDashes.size()];
}

}  // namespace heddle::workbench
