#include "workbench/report/memory_picture.h"

#include <algorithm>
#include <array>

#include "base/number_text.h"
#include "workbench/report/run_look.h"

namespace heddle::workbench {
namespace {

constexpr double kBarsWidth = 900, kBarHeight = 16, kBarGap = 5, kBarLabel = 120, kBarAmount = 90,
                 kBarLegend = 26;
// As in the window: blue, purple, green, orange, teal, grey.
constexpr std::array<const char*, plan::kCategories> kUseColors = {
    "#4e8fff", "#a47cf3", "#3fb96b", "#e08a3c", "#38b2ac", "#7c9aa3", "#9aa4b4"};

constexpr size_t kMaxBars = 80;  // the table has the rest

struct MemoryBar {
  size_t run = 0;
  const char* kind = "";
  const plan::MemoryBytes* memory = nullptr;
};

}  // namespace

std::optional<Svg> memory_picture(const Report& report) {
  std::vector<MemoryBar> bars;
  int64_t most = 1;
  for (size_t run = 0; run < report.memory.size() && bars.size() < kMaxBars; ++run) {
    const PeakMemory& memory = report.memory[run];
    if (memory.predicted) bars.push_back({run, "predicted", &*memory.predicted});
    if (memory.measured) bars.push_back({run, "measured", &*memory.measured});
  }
  if (bars.empty()) return std::nullopt;
  for (const MemoryBar& bar : bars) most = std::max(most, bar.memory->total());
  Svg svg(kBarsWidth, kBarLegend + static_cast<double>(bars.size()) * (kBarHeight + kBarGap) + 8);
  double x = kBarLabel;
  for (size_t i = 0; i < plan::kCategories; ++i) {
    svg.rect(x, 6, 10, 10, kUseColors[i]);
    svg.text(x + 14, 15, plan::kCategoryNames[i]);
    x += 108;
  }
  double y = kBarLegend;
  for (const MemoryBar& bar : bars) {
    svg.text(0, y + 12, run_number(bar.run), Svg::Anchor::start, color_of(report, bar.run), true);
    svg.text(24, y + 12, bar.kind);
    double at = kBarLabel;
    for (size_t i = 0; i < plan::kCategories; ++i) {
      const double wide = std::max(0.0, static_cast<double>(bar.memory->bytes[i])) /
                          static_cast<double>(most) * (kBarsWidth - kBarLabel - kBarAmount);
      svg.rect(at, y, wide, kBarHeight, kUseColors[i]);
      at += wide;
    }
    svg.text(at + 6, y + 12, bytes_text(static_cast<double>(bar.memory->total())),
             Svg::Anchor::start, kInk);
    y += kBarHeight + kBarGap;
  }
  return svg;
}

}  // namespace heddle::workbench
