#include "gui/views/compare/run_coloring.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "gui/format.h"
#include "gui/theme/tokens.h"
#include "storage/value_text.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxCategories = kRunColors;
constexpr int kStops = 5;

// Brightness grows evenly, so that the order is seen without hue. Each theme leaves out the end
// that its surface swallows.
constexpr std::array<const char*, 6> kDarkScale = {"#5a62b8", "#3f7fb5", "#2a9d9d",
                                                   "#4fbf7f", "#a6d854", "#fde725"};
constexpr std::array<const char*, 6> kLightScale = {"#440154", "#443a83", "#31688e",
                                                    "#21817f", "#2a9c5c", "#8a9a1b"};

QColor scaleColor(double place, Scheme scheme) {
  const auto& scale = scheme == Scheme::dark ? kDarkScale : kLightScale;
  const double at = std::clamp(place, 0.0, 1.0) * (scale.size() - 1);
  const size_t below = std::min(static_cast<size_t>(at), scale.size() - 2);
  return blend(QColor(scale[below]), QColor(scale[below + 1]), at - static_cast<double>(below));
}

RunStroke withoutValue(Scheme scheme) { return {colorsOf(scheme).muted, -1}; }

RunColoring byScale(const ComparedKey& key, double low, double high, Scheme scheme) {
  const bool decades = spansDecades(low, high);
  const auto placeOf = [&](double value) {
    return decades ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  };
  RunColoring coloring;
  coloring.scale = true;
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    const auto value = key.number(run);
    coloring.strokes.append(value ? RunStroke{scaleColor(placeOf(*value), scheme), -1}
                                  : withoutValue(scheme));
  }
  for (int stop = 0; stop < kStops; ++stop) {
    const double place = static_cast<double>(stop) / (kStops - 1);
    const double value = decades ? low * std::pow(high / low, place) : low + (high - low) * place;
    coloring.legend.push_back({QString::fromStdString(storage::value_text(key.compared.key, value)),
                               {scaleColor(place, scheme), -1}});
  }
  return coloring;
}

}  // namespace

bool spansDecades(double low, double high) { return low > 0 && high / low >= 100; }

RunColoring colorByRun(const QList<int>& runSlots, Scheme scheme) {
  RunColoring coloring;
  for (const int slot : runSlots) coloring.strokes.append(runStroke(slot, scheme));
  return coloring;
}

RunColoring colorByKey(const ComparedKey& key, Scheme scheme) {
  std::vector<QString> values;  // in the order of size, or of the runs
  std::map<double, QString> sizes;
  bool numbers = true;
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    if (!key.compared.values[run]) continue;
    const QString& text = key.texts[static_cast<qsizetype>(run)];
    if (const auto size = key.number(run))
      sizes.emplace(*size, text);
    else
      numbers = false;
    if (std::ranges::find(values, text) == values.end()) values.push_back(text);
  }
  if (numbers && sizes.size() > kMaxCategories)
    return byScale(key, sizes.begin()->first, sizes.rbegin()->first, scheme);
  if (numbers) {
    values.clear();
    for (const auto& [size, text] : sizes) values.push_back(text);
  }
  RunColoring coloring;
  for (size_t i = 0; i < values.size(); ++i)
    coloring.legend.push_back({values[i], runStroke(static_cast<int>(i), scheme)});
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    const auto found = std::ranges::find(coloring.legend, key.texts[static_cast<qsizetype>(run)],
                                         &RunColoring::Entry::text);
    coloring.strokes.append(key.compared.values[run] && found != coloring.legend.end()
                                ? found->stroke
                                : withoutValue(scheme));
  }
  return coloring;
}

}  // namespace heddle::gui
