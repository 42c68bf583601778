// A curve thinned to a fixed number of evenly spaced points as it grows: what a run's summary needs
// of its loss and throughput, in a few hundred bytes, whatever the run's length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::storage {

class Curve {
 public:
  struct Point {
    int64_t step = 0;
    double value = 0;
  };

  /// `skip`: so many first values are left out (warm-up).
  explicit Curve(size_t capacity, uint64_t skip = 0) : capacity_(capacity), skip_(skip) {}

  /// A step not after the last one starts over from there (a later attempt).
  void add(int64_t step, double value);

  const std::vector<Point>& points() const { return points_; }
  /// The median of the finite values; NaN when there is none.
  double median() const;

  std::string bytes() const;
  /// The inverse of `bytes`; an empty text is an empty curve, as are bytes that are none.
  void load(std::string_view bytes);

 private:
  size_t capacity_;
  uint64_t skip_;
  uint64_t stride_ = 1;
  uint64_t seen_ = 0;
  std::vector<Point> points_;
};

}  // namespace heddle::storage
