#include "gui/views/compare/compared_keys.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/models/value.h"

namespace heddle::gui {
namespace {

/// Which of the values are the best; none when all are the same or neither way is better.
QVector<bool> bestOf(const ComparedKey& key) {
  const size_t runs = key.compared.values.size();
  QVector<bool> best(static_cast<qsizetype>(runs), false);
  const int direction = static_cast<int>(telemetry::metric(key.compared.key).better);
  double found = -INFINITY, worst = INFINITY;
  for (size_t run = 0; run < runs; ++run)
    if (const auto size = key.number(run)) {
      found = std::max(found, *size * direction);
      worst = std::min(worst, *size * direction);
    }
  if (direction == 0 || !(found > worst) || !key.compared.differs()) return best;
  for (size_t run = 0; run < runs; ++run) {
    const auto size = key.number(run);
    best[static_cast<qsizetype>(run)] = size && *size * direction == found;
  }
  return best;
}

bool isOfPlans(const std::vector<storage::Compared>& results) {
  return std::ranges::all_of(
      results, [](const auto& each) { return each.key.starts_with(telemetry::kPredicted); });
}

ComparedKey keyOf(const storage::Compared& compared, ComparedKey::Kind kind) {
  ComparedKey key;
  key.kind = kind;
  key.compared = compared;
  // No measured result has the same name.
  if (kind == ComparedKey::Kind::predicted) key.compared.key.erase(0, telemetry::kPredicted.size());
  const std::string& name = key.compared.key;
  key.name = kind == ComparedKey::Kind::result      ? resultText(name)
             : kind == ComparedKey::Kind::predicted ? keyText(name)
                                                    : QString::fromStdString(name);
  if (key.isResult()) {
    key.meaning = QString::fromUtf8(telemetry::metric(name).meaning);
    key.best = bestOf(key);
  } else {
    key.best.fill(false, static_cast<qsizetype>(compared.values.size()));
  }
  key.texts = valueTexts(name, compared.values);
  return key;
}

}  // namespace

std::optional<double> ComparedKey::number(size_t run) const {
  const auto& value = compared.values[run];
  const auto found = value ? storage::number_of(*value) : std::nullopt;
  return found && std::isfinite(*found) ? found : std::nullopt;
}

std::optional<storage::Difference> ComparedKey::difference(size_t run, size_t baseline) const {
  if (run == baseline || baseline >= compared.values.size()) return std::nullopt;
  return storage::difference_of(compared.key, compared.values[baseline], compared.values[run]);
}

QString ComparedKey::differenceText(size_t run, size_t baseline) const {
  const auto found = difference(run, baseline);
  return found ? QString::fromStdString(storage::difference_text(compared.key, *found)) : QString();
}

ComparedKeys comparedKeys(const storage::Comparison& comparison, bool all) {
  using Kind = ComparedKey::Kind;
  std::vector<ComparedKey> keys;
  const auto add = [&](const std::vector<storage::Compared>& from, Kind kind) {
    for (const storage::Compared& each : from)
      if (all || each.differs()) keys.push_back(keyOf(each, kind));
  };
  add(comparison.recipe, Kind::recipe);
  add(comparison.environment, Kind::environment);
  const auto results = static_cast<ptrdiff_t>(keys.size());
  add(comparison.results, isOfPlans(comparison.results) ? Kind::predicted : Kind::result);
  std::stable_sort(keys.begin() + results, keys.end(), [](const auto& a, const auto& b) {
    return telemetry::order_of(a.compared.key) < telemetry::order_of(b.compared.key);
  });
  return std::make_shared<const std::vector<ComparedKey>>(std::move(keys));
}

QString titleOf(ComparedKey::Kind kind) {
  switch (kind) {
    case ComparedKey::Kind::recipe:
      return QCoreApplication::translate("Compare", "Recipe");
    case ComparedKey::Kind::environment:
      return QCoreApplication::translate("Compare", "Environment");
    case ComparedKey::Kind::result:
      return QCoreApplication::translate("Compare", "Results");
    case ComparedKey::Kind::predicted:
      return QCoreApplication::translate("Compare", "Predicted");
  }
  return {};
}

}  // namespace heddle::gui
