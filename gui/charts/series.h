// One curve's samples and their drawn columns. Plain data without Qt.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/ema.h"

namespace heddle::gui {

/// The samples of one pixel column, in data units. A column without a finite sample is not drawn.
struct Column {
  double x = 0;  // of the last sample
  double min = 0;
  double max = 0;
  double first = 0;
  double last = 0;
};

/// Samples with x growing. Values that are not finite are kept as marks and interrupt the curve.
class Series {
 public:
  void clear();
  /// Appends a sample; x that does not exceed the last one replaces its value if equal and is
  /// ignored otherwise (a run continued from a checkpoint repeats steps).
  void append(double x, double y) { append(x, y, y, y); }
  /// The same of a point that sums up several samples, between `low` and `high`.
  void append(double x, double y, double low, double high);

  /// All points of another one, whose x continue this one's.
  void append(const Series& more);
  /// Drops the points beyond x.
  void cutAfter(double x);

  /// Moves the last point, forwards only.
  void replaceLast(double x, double y);

  bool empty() const { return x_.empty(); }
  size_t size() const { return x_.size(); }
  std::span<const double> x() const { return x_; }
  std::span<const double> y() const { return y_; }
  // As y where every point is a single sample.
  std::span<const double> low() const { return sumsUp_ ? low_ : y_; }
  std::span<const double> high() const { return sumsUp_ ? high_ : y_; }
  /// The x of all samples that are not finite.
  const std::vector<double>& notFinite() const { return notFinite_; }
  double lastX() const { return x_.empty() ? 0 : x_.back(); }
  double lastY() const;  // NaN when empty
  /// The sample nearest to x; -1 when empty.
  ptrdiff_t nearest(double x) const;

 private:
  std::vector<double> x_;
  std::vector<double> y_;
  bool sumsUp_ = false;             // some point does
  std::vector<double> low_, high_;  // kept if so
  std::vector<double> notFinite_;
};

/// The series between `from` and `to` (and one sample beyond each), reduced to one column a pixel:
/// what a curve of any length costs to draw is bounded by the width. Runs of columns interrupted by
/// values that are not finite are separated by a column of NaN. `log`: pixels are even in log x;
/// samples at 0 and below are left out.
std::vector<Column> columns(const Series& series, double from, double to, int pixels,
                            bool log = false);

/// Columns that no line reaches: what is not finite is on both sides of them.
std::vector<Column> lone(const std::vector<Column>& columns);

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool valid() const { return low <= high; }
  bool operator==(const Range&) const = default;
  void include(double value) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
};

/// Smallest and largest finite value of the columns.
Range rangeOf(const std::vector<Column>& columns);

/// Ends of an axis that a person has set; an end that is not set follows the curves.
struct Limits {
  std::optional<double> low = {}, high = {};
  bool operator==(const Limits&) const = default;
};

}  // namespace heddle::gui
