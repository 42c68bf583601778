#include "gui/charts/series.h"

#include <algorithm>
#include <cmath>

namespace heddle::gui {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void Series::clear() {
  x_.clear();
  y_.clear();
  notFinite_.clear();
}

void Series::append(double x, double y) {
  if (!x_.empty() && x <= x_.back()) {
    if (x < x_.back()) return;
    if (!notFinite_.empty() && notFinite_.back() == x) notFinite_.pop_back();
    y_.back() = y;
  } else {
    x_.push_back(x);
    y_.push_back(y);
  }
  if (!std::isfinite(y)) notFinite_.push_back(x);
}

double Series::lastY() const { return y_.empty() ? kNaN : y_.back(); }

ptrdiff_t Series::nearest(double x) const {
  if (x_.empty()) return -1;
  const auto above = std::lower_bound(x_.begin(), x_.end(), x);
  const auto index = above - x_.begin();
  if (above == x_.end()) return index - 1;
  if (index > 0 && x - x_[static_cast<size_t>(index) - 1] < *above - x) return index - 1;
  return index;
}

double Ema::next(double value) {
  if (!std::isfinite(value)) return kNaN;
  mean = weight * mean + (1 - weight) * value;
  correction *= weight;
  return mean / (1 - correction);
}

std::vector<Column> columns(std::span<const double> x, std::span<const double> y, double from,
                            double to, int pixels) {
  std::vector<Column> result;
  if (x.empty() || pixels <= 0 || !(to > from)) return result;
  auto begin = static_cast<size_t>(std::lower_bound(x.begin(), x.end(), from) - x.begin());
  auto end = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), to) - x.begin());
  if (begin > 0) --begin;
  if (end < x.size()) ++end;

  const double perPixel = (to - from) / pixels;
  auto pixel = std::numeric_limits<double>::quiet_NaN();
  bool interrupted = true;
  for (size_t i = begin; i < end; ++i) {
    if (!std::isfinite(y[i])) {
      if (!interrupted) result.push_back({x[i], kNaN, kNaN, kNaN, kNaN});
      interrupted = true;
      continue;
    }
    const double at = std::floor((x[i] - from) / perPixel);
    if (interrupted || at != pixel) {
      result.push_back({x[i], y[i], y[i], y[i], y[i]});
    } else {
      Column& column = result.back();
      column.x = x[i];
      column.min = std::min(column.min, y[i]);
      column.max = std::max(column.max, y[i]);
      column.last = y[i];
    }
    pixel = at;
    interrupted = false;
  }
  return result;
}

std::vector<Column> lone(const std::vector<Column>& columns) {
  const auto isFinite = [&](size_t i) {
    return i < columns.size() && std::isfinite(columns[i].last);
  };
  std::vector<Column> result;
  for (size_t i = 0; i < columns.size(); ++i)
    if (isFinite(i) && !isFinite(i + 1) && (i == 0 || !isFinite(i - 1)))
      result.push_back(columns[i]);
  return result;
}

Range rangeOf(const std::vector<Column>& columns) {
  Range range;
  for (const Column& column : columns) {
    if (!std::isfinite(column.last)) continue;
    range.include(column.min);
    range.include(column.max);
  }
  return range;
}

}  // namespace heddle::gui
