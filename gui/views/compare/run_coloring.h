// How the compared runs are coloured: each its own stroke, or by the value of a key. A key of few
// values has a colour and a marker a value; one of many numbers a scale from dark to bright.
#pragma once

#include <vector>

#include "gui/theme/run_colors.h"
#include "gui/views/compare/compared_keys.h"

namespace heddle::gui {

struct RunColoring {
  struct Entry {
    QString text;
    RunStroke stroke;
  };
  QList<RunStroke> strokes;   // an entry a run
  std::vector<Entry> legend;  // the key's values; of a scale its stops from low to high
  bool scale = false;
};

/// Each run its own, by its slot.
RunColoring colorByRun(const QList<int>& runSlots, Scheme scheme);
RunColoring colorByKey(const ComparedKey& key, Scheme scheme);

/// Whether numbers are better seen by their logarithm: all above 0 and over two decades.
bool spansDecades(double low, double high);

}  // namespace heddle::gui
