// The look's tokens: colours by role for the two schemes, distances, sizes. Source: the design's
// look.
#pragma once

#include <QColor>

namespace heddle::gui {

enum class Scheme { dark, light };

/// Colours by role. `*Text` variants have 4.5:1 or more against window, surface and raised; the
/// plain ones are for shapes.
struct Colors {
  QColor window, surface, raised, line;
  QColor text, muted;
  QColor accent, accentText, onAccent;  // onAccent: text upon an accent fill
  QColor good, warn, bad;
  QColor goodText, warnText, badText;
  QColor selected, current;  // rows of tables

  // Parts of a step, the same in timelines and bars.
  QColor compute, hidden, exposed, optimizer, copies;
  // Uses of memory.
  QColor parameters, gradients, activations, buffers, other;  // optimizer: as above
};

const Colors& colorsOf(Scheme scheme);

/// Distances and sizes in device-independent pixels.
namespace metric {
inline constexpr int within = 4, related = 8, group = 16, edge = 24;
inline constexpr int radius = 6;
inline constexpr int field = 28;  // height of fields and buttons
inline constexpr int chip = 20;
inline constexpr int segment = 24;
inline constexpr int rail = 64, topBar = 48, statusBar = 28;
}  // namespace metric

/// WCAG contrast of two opaque colours, 1 to 21.
double contrast(const QColor& a, const QColor& b);

/// `over` painted upon `base` with the given opacity, as an opaque colour.
QColor blend(const QColor& base, const QColor& over, double opacity);

}  // namespace heddle::gui
