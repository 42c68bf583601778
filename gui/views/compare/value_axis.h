// An axis for the values of one key over runs: numbers, by their logarithm where they span decades,
// or categories side by side. Plain data.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "gui/views/compare/compared_keys.h"

namespace heddle::gui {

struct ValueAxis {
  struct Tick {
    double place = 0;  // 0 low to 1 high
    QString text;
  };

  QString name;
  bool log = false;
  bool categories = false;
  std::vector<std::optional<double>> places;   // an entry a run, 0 to 1; none: it has no value
  std::vector<std::optional<double>> numbers;  // an entry a run; of categories their number
  std::vector<Tick> ticks;                     // ascending
};

ValueAxis valueAxis(const ComparedKey& key);

}  // namespace heddle::gui
