#include "workbench/report/run_look.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace heddle::workbench {
namespace {

constexpr double kSeenOnPaper = 3;  // contrast, as in the window
constexpr double kDarker = 0.9;

using Channels = std::array<double, 3>;  // 0 to 1

std::optional<Channels> channels_of(const std::string& color) {
  if (color.size() != 7 || color[0] != '#' ||
      color.find_first_not_of("0123456789abcdefABCDEF", 1) != std::string::npos)
    return std::nullopt;
  Channels channels{};
  for (size_t i = 0; i < channels.size(); ++i)
    channels[i] = std::stoi(color.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
  return channels;
}

/// Contrast with white, by WCAG 2.1.
double contrast_on_paper(const Channels& channels) {
  constexpr Channels kWeights = {0.2126, 0.7152, 0.0722};
  double luminance = 0;
  for (size_t i = 0; i < channels.size(); ++i)
    luminance +=
        kWeights[i] * (channels[i] <= 0.04045 ? channels[i] / 12.92
                                              : std::pow((channels[i] + 0.055) / 1.055, 2.4));
  return 1.05 / (luminance + 0.05);
}

}  // namespace

std::string run_color(const storage::RunSummary& summary, size_t run) {
  if (auto channels = channels_of(summary.color.substr(0, 7))) {
    while (contrast_on_paper(*channels) < kSeenOnPaper)
      for (double& channel : *channels) channel *= kDarker;
    const auto byte = [&](size_t i) { return std::lround((*channels)[i] * 255); };
    return fmt::format("#{:02x}{:02x}{:02x}", byte(0), byte(1), byte(2));
  }
  const std::string color = kLightRunPalette[run % kRunPalette];
  return color.empty() ? kInk : color;
}

}  // namespace heddle::workbench
