#include "gui/theme/run_colors.h"

#include <QPainter>
#include <QSet>
#include <array>
#include <cmath>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

// Order: blue, vermilion, bluish green, reddish purple, orange, sky blue, text (for black), yellow.
constexpr std::array<const char*, kRunColors> kDark = {"#4f94dc", "#e8702a", "#14ab80", "#d98bb8",
                                                       "#e69f00", "#7cc7f0", "",        "#f0e442"};
constexpr std::array<const char*, kRunColors> kLight = {"#0072b2", "#d55e00", "#009e73", "#c3709e",
                                                        "#c48700", "#3f9bd1", "",        "#9d9528"};

QPolygonF polygon(std::initializer_list<QPointF> points) {
  return QPolygonF(QList<QPointF>(points));
}

}  // namespace

RunStroke runStroke(int slot, Scheme scheme) {
  const int color = slot % kRunColors;
  const char* name = (scheme == Scheme::dark ? kDark : kLight)[static_cast<size_t>(color)];
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
