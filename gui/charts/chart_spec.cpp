#include "gui/charts/chart_spec.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

namespace heddle::gui {
namespace {

struct XWords {
  Q_DECLARE_TR_FUNCTIONS(ChartX)
};

constexpr std::array<const char*, 5> kXNames = {"step", "tokens", "time", "clock", "metric"};

}  // namespace

QStringList chartXWords() {
  return {XWords::tr("step"), XWords::tr("tokens"), XWords::tr("time since the start"),
          XWords::tr("time of day")};
}

QJsonObject toJson(const ChartSpec& spec) {
  QJsonObject object{
      {"metric", QString::fromStdString(spec.metric)},
      {"x", QLatin1String(kXNames[static_cast<size_t>(spec.x)])},
      {"x_metric", QString::fromStdString(spec.xMetric)},
      {"smoothing", spec.smoothing},
      {"log_x", spec.logX},
      {"log_y", spec.logY},
      {"ignores_outliers", spec.ignoresOutliers},
      {"rank", spec.rank},
      {"band", spec.band},
      {"aggregate", spec.aggregate},
      {"difference", spec.difference},
  };
  if (spec.limits.low) object["low"] = *spec.limits.low;
  if (spec.limits.high) object["high"] = *spec.limits.high;
  return object;
}

ChartSpec chartSpec(const QJsonObject& object) {
  ChartSpec spec;
  spec.metric = object["metric"].toString().toStdString();
  const auto* x = std::ranges::find(kXNames, object["x"].toString());
  if (x != kXNames.end()) spec.x = static_cast<ChartX>(x - kXNames.begin());
  spec.xMetric = object["x_metric"].toString().toStdString();
  if (spec.x == ChartX::metric && spec.xMetric.empty()) spec.x = ChartX::step;
  spec.smoothing = std::max(0.0, object["smoothing"].toDouble(spec.smoothing));
  spec.logX = object["log_x"].toBool();
  spec.logY = object["log_y"].toBool();
  spec.ignoresOutliers = object["ignores_outliers"].toBool();
  spec.rank = std::max<int32_t>(kEachRank, object["rank"].toInt(spec.rank));
  spec.band = object["band"].toBool();
  spec.aggregate = object["aggregate"].toBool(spec.aggregate);
  spec.difference = object["difference"].toBool();
  if (object.contains("low")) spec.limits.low = object["low"].toDouble();
  if (object.contains("high")) spec.limits.high = object["high"].toDouble();
  return spec;
}

}  // namespace heddle::gui
