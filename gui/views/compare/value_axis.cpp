#include "gui/views/compare/value_axis.h"

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "base/round_step.h"
#include "gui/views/compare/run_coloring.h"
#include "storage/value_text.h"

namespace heddle::gui {
namespace {

constexpr double kTicks = 5;
constexpr double kMargin = 0.04;  // of the axis, at both ends

/// Without the zeros at the end of its decimals: 0.005, 1e-4, 2 GiB.
QString withoutZeros(const std::string& number) {
  static const QRegularExpression zeros(
      QStringLiteral("\\.0+(?!\\d)|(?<=\\.)(\\d*[1-9])0+(?!\\d)"));
  return QString::fromStdString(number).replace(zeros, QStringLiteral("\\1"));
}

/// With enough digits that no two ticks look the same.
std::vector<QString> tickTexts(const ComparedKey& key, const std::vector<double>& ticks) {
  std::vector<QString> texts;
  for (const std::string& text :
       storage::value_texts(key.compared.key, {ticks.begin(), ticks.end()}, {}))
    texts.push_back(withoutZeros(text));
  return texts;
}

ValueAxis categoryAxis(const ComparedKey& key, std::vector<QString> categories) {
  ValueAxis axis;
  axis.categories = true;
  std::ranges::sort(categories);
  const auto count = static_cast<double>(categories.size());
  const auto placeOf = [&](size_t category) {
    return (static_cast<double>(category) + 0.5) / count;
  };
  for (size_t i = 0; i < categories.size(); ++i) axis.ticks.push_back({placeOf(i), categories[i]});
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    std::optional<double> place, number;
    if (key.compared.values[run]) {
      const auto found = std::ranges::find(categories, key.texts[static_cast<qsizetype>(run)]);
      const auto category = static_cast<size_t>(found - categories.begin());
      place = placeOf(category);
      number = static_cast<double>(category);
    }
    axis.places.push_back(place);
    axis.numbers.push_back(number);
  }
  return axis;
}

ValueAxis numberAxis(const ComparedKey& key, double low, double high) {
  ValueAxis axis;
  axis.log = spansDecades(low, high);
  const auto scaled = [&](double value) { return axis.log ? std::log10(value) : value; };
  const double from = scaled(low), range = std::max(scaled(high) - from, 1e-300);
  const auto placeOf = [&](double value) {
    return high > low ? kMargin + (1 - 2 * kMargin) * (scaled(value) - from) / range : 0.5;
  };
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    const auto number = key.number(run);
    axis.numbers.push_back(number);
    axis.places.push_back(number ? std::optional(placeOf(*number)) : std::nullopt);
  }
  if (high - low <= 1e-9 * std::max(std::abs(low), std::abs(high))) {
    axis.ticks.push_back({0.5, tickTexts(key, {low}).front()});
    return axis;
  }
  std::vector<double> ticks;
  if (axis.log) {
    const double step = std::max(1.0, std::round(range / kTicks));
    for (double decade = std::ceil(from - 1e-9); decade <= from + range + 1e-9; decade += step)
      ticks.push_back(std::pow(10, decade));
  } else {
    const double step = roundStep((high - low) / kTicks);
    for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-9; tick += step)
      ticks.push_back(std::abs(tick) < step / 1e6 ? 0 : tick);
  }
  const std::vector<QString> texts = tickTexts(key, ticks);
  for (size_t i = 0; i < ticks.size(); ++i) axis.ticks.push_back({placeOf(ticks[i]), texts[i]});
  return axis;
}

}  // namespace

ValueAxis valueAxis(const ComparedKey& key) {
  double low = INFINITY, high = -INFINITY;
  bool numbers = true;
  std::vector<QString> categories;
  for (size_t run = 0; run < key.compared.values.size(); ++run) {
    if (!key.compared.values[run]) continue;
    const QString& text = key.texts[static_cast<qsizetype>(run)];
    if (std::ranges::find(categories, text) == categories.end()) categories.push_back(text);
    const auto number = key.number(run);
    // NaN is a result too, but it has no place.
    const bool isNumber = storage::number_of(*key.compared.values[run]).has_value();
    numbers = numbers && isNumber;
    if (!number) continue;
    low = std::min(low, *number);
    high = std::max(high, *number);
  }
  ValueAxis axis = numbers && low <= high ? numberAxis(key, low, high)
                                          : categoryAxis(key, std::move(categories));
  axis.name = key.name;
  return axis;
}

}  // namespace heddle::gui
