// Time ↔ pixel mapping of a timeline, as plain data: zooming, panning, ticks. Microseconds and
// device-independent pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::gui {

struct TimeTick {
  double timeUs = 0;
  std::string label;  // "0", "200 ms", "1.2 s", "0.5 h"
};

/// The stretch [beginUs, endUs] of [0, lengthUs] shown on pixels [left, left + width].
struct TimeAxis {
  double lengthUs = 1;  // all there is
  double beginUs = 0;
  double endUs = 1;
  double left = 0;
  double width = 1;

  double usPerPixel() const { return (endUs - beginUs) / width; }
  double toPixel(double timeUs) const { return left + (timeUs - beginUs) / usPerPixel(); }
  double toTime(double pixel) const { return beginUs + (pixel - left) * usPerPixel(); }
  bool showsAll() const { return beginUs <= 0 && endUs >= lengthUs; }

  /// Shows [beginUs, endUs], moved and widened as needed to be within [0, lengthUs] and to span
  /// at least `kShortest` microseconds.
  void show(double fromUs, double toUs);
  void fit() { show(0, lengthUs); }
  /// factor > 1 zooms in; the time under `pixel` stays where it is.
  void zoom(double factor, double pixel);
  /// Moves the view by a share of its own length; positive is towards later times.
  void pan(double share);

  static constexpr double kShortest = 1.0;
};

/// Ticks at round times (1, 2 or 5 times a power of ten, of minutes, hours or days where the axis
/// is that long), at least `spacing` pixels apart.
std::vector<TimeTick> timeTicks(const TimeAxis& axis, double spacing);

}  // namespace heddle::gui
