#include "gui/theme/run_colors.h"

#include <QPainter>
#include <QSet>
#include <cmath>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

/// A slot of a run with its own colour: this bit, a marker and 24 bits of colour.
constexpr int kOwnSlot = 1 << 30, kOwnMarker = 24, kOwnColor = 0xffffff;
constexpr double kSeen = 3;  // contrast with the surface

int ownSlot(const QColor& color, int marker) {
  return kOwnSlot | marker << kOwnMarker | static_cast<int>(color.rgb() & kOwnColor);
}

/// The colour as near as it can be seen upon the scheme's surface.
QColor seen(const QColor& color, Scheme scheme) {
  const QColor surface = colorsOf(scheme).surface, text = colorsOf(scheme).text;
  for (double share = 0; share < 1; share += 0.1)
    if (const QColor mixed = blend(color, text, share); contrast(mixed, surface) >= kSeen)
      return mixed;
  return text;
}

QPolygonF polygon(std::initializer_list<QPointF> points) {
  return QPolygonF(QList<QPointF>(points));
}

}  // namespace

RunStroke runStroke(int slot, Scheme scheme) {
  if (slot & kOwnSlot)
    return {seen(QColor::fromRgb(static_cast<QRgb>(slot & kOwnColor)), scheme),
            (slot & ~kOwnSlot) >> kOwnMarker};
  const int color = slot % kRunColors;
  const char* name =
      (scheme == Scheme::dark ? kDarkRunPalette : kLightRunPalette)[static_cast<size_t>(color)];
  return {*name ? QColor(name) : colorsOf(scheme).text, (color + slot / kRunColors) % kRunMarkers};
}

QPainterPath markerPath(int marker) {
  QPainterPath path;
  switch (marker) {
    case 0:
      path.addEllipse(QPointF(), 3, 3);
      break;
    case 1:
      path.addRect(-2.7, -2.7, 5.4, 5.4);
      break;
    case 2:
      path.addPolygon(polygon({{0, -3.4}, {3.4, 2.6}, {-3.4, 2.6}}));
      break;
    case 3:
      path.addPolygon(polygon({{0, -3.8}, {3.8, 0}, {0, 3.8}, {-3.8, 0}}));
      break;
    case 4:
      path.addPolygon(polygon({{0, 3.4}, {3.4, -2.6}, {-3.4, -2.6}}));
      break;
    case 5:
      path.addPolygon(polygon({{-1, -3.4},
                               {1, -3.4},
                               {1, -1},
                               {3.4, -1},
                               {3.4, 1},
                               {1, 1},
                               {1, 3.4},
                               {-1, 3.4},
                               {-1, 1},
                               {-3.4, 1},
                               {-3.4, -1},
                               {-1, -1}}));
      break;
    default:
      return path;
  }
  path.closeSubpath();
  return path;
}

void paintRunStroke(QPainter& painter, const QRectF& box, const RunStroke& stroke, int width) {
  const double y = std::floor(box.center().y()) + (width % 2 ? 0.5 : 0);
  painter.save();
  painter.setPen(QPen(stroke.color, width, Qt::SolidLine, Qt::FlatCap));
  painter.drawLine(QPointF(box.left(), y), QPointF(box.right(), y));
  if (stroke.marker >= 0) {
    painter.setRenderHint(QPainter::Antialiasing);
    painter.translate(box.center().x(), y);
    painter.fillPath(markerPath(stroke.marker), stroke.color);
  }
  painter.restore();
}

QList<int> RunSlots::of(const QList<qint64>& runs) {
  QList<int> found;
  QSet<int> taken;
  for (const qint64 run : runs) {
    if (const auto own = own_.constFind(run); own != own_.constEnd()) {
      int marker = 0;
      while (marker + 1 < kRunMarkers && taken.contains(ownSlot(*own, marker))) ++marker;
      found.append(ownSlot(*own, marker));
      taken.insert(found.last());
      continue;
    }
    const auto known = known_.constFind(run);
    const bool keeps = known != known_.constEnd() && !taken.contains(*known);
    found.append(keeps ? *known : -1);
    if (keeps) taken.insert(*known);
  }
  int slot = 0;
  for (qsizetype i = 0; i < runs.size(); ++i) {
    if (found[i] >= 0) continue;
    while (taken.contains(slot)) ++slot;
    taken.insert(slot);
    known_[runs[i]] = found[i] = slot;
  }
  return found;
}

}  // namespace heddle::gui
