// Several curves as one: a group's mean and range, a difference. Between two samples a curve is a
// straight line. No Qt.
#pragma once

#include <vector>

#include "gui/charts/series.h"

namespace heddle::gui {

/// The curve at x; NaN beyond its ends, and next to a sample that is not finite.
double valueAt(const Series& curve, double x);

/// A group's curves as their mean (y) between the lowest and the highest.
struct Band {
  Series range;
  std::vector<int> members;  // how many have a value there, as range.x
};

/// At the x that some of the curves have, thinned to at most so many.
Band bandOf(const std::vector<const Series*>& curves, size_t points);

/// `curve` less `baseline` at the curve's x, where both are; empty: nowhere.
Series differenceOf(const Series& curve, const Series& baseline);

}  // namespace heddle::gui
