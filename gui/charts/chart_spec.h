// One chart as a person set it: which metric over which x, and how it is drawn. Plain data.
#pragma once

#include <QJsonObject>
#include <QStringList>
#include <string>

#include "gui/charts/curve_data.h"

namespace heddle::gui {

struct ChartSpec {
  std::string metric;  // as the store names it
  ChartX x = ChartX::step;
  std::string xMetric = {};  // for ChartX::metric
  /// Half-life in steps of the smoothed curve; 0: none.
  double smoothing = Ema::kUsualHalfLife;
  bool logX = false, logY = false;
  Limits limits = {};  // of y
  /// The y axis leaves out the values beyond the 1st and the 99th percentile.
  bool ignoresOutliers = false;
  int32_t rank = kAllRanks;  // kAllRanks, kEachRank or a rank
  bool band = false;         // each run as a band from lowest to highest value per pixel
  bool aggregate = true;     // runs of one group as their mean and range
  bool difference = false;   // from the baseline, where there is one

  bool operator==(const ChartSpec&) const = default;
};

/// The x axes in the order of ChartX, to choose from; without the metrics.
QStringList chartXWords();

QJsonObject toJson(const ChartSpec& spec);
/// Missing and impossible members are as in a new spec.
ChartSpec chartSpec(const QJsonObject& object);

}  // namespace heddle::gui
