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
  sumsUp_ = false;
  low_.clear();
  high_.clear();
  notFinite_.clear();
}

void Series::append(double x, double y, double low, double high) {
  if (!x_.empty() && x < x_.back()) return;
  if (!x_.empty() && x == x_.back()) {
    if (!notFinite_.empty() && notFinite_.back() == x) notFinite_.pop_back();
    x_.pop_back();
    y_.pop_back();
    if (sumsUp_) low_.pop_back(), high_.pop_back();
  }
  if (!sumsUp_ && (low < y || high > y)) {
    sumsUp_ = true;
    low_ = y_;
    high_ = y_;
  }
  x_.push_back(x);
  y_.push_back(y);
  if (sumsUp_) low_.push_back(low), high_.push_back(high);
  if (!std::isfinite(y)) notFinite_.push_back(x);
}

void Series::append(const Series& more) {
  for (size_t i = 0; i < more.size(); ++i)
    append(more.x_[i], more.y_[i], more.low()[i], more.high()[i]);
}

void Series::cutAfter(double x) {
  const auto cut = [x](std::vector<double>& all) {
    all.erase(std::upper_bound(all.begin(), all.end(), x), all.end());
  };
  cut(x_);
  cut(notFinite_);
  y_.resize(x_.size());
  if (sumsUp_) low_.resize(x_.size()), high_.resize(x_.size());
}

void Series::replaceLast(double x, double y) {
  x_.back() = x;
  append(x, y);
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

std::vector<Column> columns(const Series& series, double from, double to, int pixels, bool log) {
  std::vector<Column> result;
  const auto x = series.x(), y = series.y(), low = series.low(), high = series.high();
  if (x.empty() || pixels <= 0 || !(to > from) || (log && !(from > 0))) return result;
  auto begin = static_cast<size_t>(std::lower_bound(x.begin(), x.end(), from) - x.begin());
  auto end = static_cast<size_t>(std::upper_bound(x.begin(), x.end(), to) - x.begin());
  if (begin > 0 && (!log || x[begin - 1] > 0)) --begin;
  if (end < x.size()) ++end;

  const double origin = log ? std::log(from) : from;
  const double pixelsPer = pixels / ((log ? std::log(to) : to) - origin);
  result.reserve(std::min(end - begin, static_cast<size_t>(pixels) + 2));
  constexpr int kBefore = -1;  // left of the first pixel
  int pixel = kBefore - 1;
  bool interrupted = true;
  for (size_t i = begin; i < end; ++i) {
    if (!std::isfinite(y[i])) {
      if (!interrupted) result.push_back({x[i], kNaN, kNaN, kNaN, kNaN});
      interrupted = true;
      continue;
    }
    const double place = ((log ? std::log(x[i]) : x[i]) - origin) * pixelsPer;
    const int at = place < 0 ? kBefore : static_cast<int>(std::min<double>(place, pixels));
    if (interrupted || at != pixel) {
      result.push_back({x[i], low[i], high[i], y[i], y[i]});
    } else {
      Column& column = result.back();
      column.x = x[i];
      column.min = std::min(column.min, low[i]);
      column.max = std::max(column.max, high[i]);
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
