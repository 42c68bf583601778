#include "gui/charts/metric_names.h"

#include <QObject>
#include <algorithm>
#include <set>

#include "engine/telemetry/metrics.h"

namespace heddle::gui {
namespace {

QString unitName(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return QObject::tr("bytes");
    case Unit::tokens_per_second:
      return QObject::tr("tok/s");
    case Unit::tokens:
      return QObject::tr("tokens");
    case Unit::seconds:
      return QObject::tr("seconds");
    case Unit::share:
      return QStringLiteral("%");
    case Unit::unknown:
    case Unit::number:
    case Unit::count:
    case Unit::loss:
      break;
  }
  return {};
}

}  // namespace

QString textOfMetric(const std::string& name) {
  QString text = QString::fromStdString(telemetry::words_of(name));
  const QString called = QString::fromStdString(name);
  if (const QString unit = unitName(telemetry::metric(name).unit); !unit.isEmpty())
    text += QStringLiteral(", ") + unit;
  return text == called ? text : text + QStringLiteral(" (%1)").arg(called);
}

Result<std::vector<std::string>> readMetrics(storage::Reader& reader,
                                             const std::vector<qint64>& runs) {
  std::set<std::string> names;
  for (const qint64 id : runs) {
    const auto run = reader.run(id);
    if (run) names.insert(run->series.begin(), run->series.end());
  }
  std::vector<std::string> all(names.begin(), names.end());
  std::ranges::stable_sort(all, {},
                           [](const std::string& name) { return telemetry::order_of(name); });
  return all;
}

}  // namespace heddle::gui
