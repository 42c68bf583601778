#include "gui/theme/run_colors.h"

#include <QPainter>
#include <QSet>
#include <algorithm>
#include <cmath>
#include <string_view>

#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

/// A slot of a run with its own colour: this bit, a marker and 24 bits of colour.
constexpr int kOwnSlot = 1 << 30, kOwnMarker = 24, kOwnColor = 0xffffff;
/// The slot of a run with only a marker of its own: this bit, the marker and its number's slot.
constexpr int kMarkedSlot = 1 << 29;
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
  if (slot & kMarkedSlot)
    return {runStroke(slot & kOwnColor, scheme).color, (slot & ~kMarkedSlot) >> kOwnMarker};
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

OwnStroke OwnStroke::of(const QString& text) {
  const qsizetype end = text.startsWith(QChar('#')) ? text.indexOf(QChar(' ')) : 0;
  const std::string name = (end < 0 ? QString() : text.mid(end).trimmed()).toStdString();
  const auto marker = std::ranges::find(kRunMarkerNames, name,
                                        [](const char* each) { return std::string_view(each); });
  return {
      end == 0 ? QColor() : QColor(text.left(end)),
      marker == kRunMarkerNames.end() ? -1 : static_cast<int>(marker - kRunMarkerNames.begin())};
}

QString OwnStroke::text() const {
  QStringList parts;
  if (color.isValid()) parts << color.name();
  if (marker >= 0) parts << QLatin1String(kRunMarkerNames[static_cast<size_t>(marker)]);
  return parts.join(QChar(' '));
}

std::optional<int> RunSlots::ownSlotOf(qint64 run) {
  return own_.contains(run) ? std::optional(of({run}).first()) : std::nullopt;
}

QList<int> RunSlots::of(const QList<qint64>& runs) {
  QList<int> found;
  QSet<int> taken;
  for (const qint64 run : runs) {
    const OwnStroke own = own_.value(run);
    if (own.color.isValid()) {
      int marker = std::max(0, own.marker);
      while (own.marker < 0 && marker + 1 < kRunMarkers &&
             taken.contains(ownSlot(own.color, marker)))
        ++marker;
      found.append(ownSlot(own.color, marker));
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
  // Its own marker on the colour of its number.
  for (qsizetype i = 0; i < runs.size(); ++i)
    if (const OwnStroke own = own_.value(runs[i]); !own.color.isValid() && own.marker >= 0)
      found[i] = kMarkedSlot | own.marker << kOwnMarker | found[i];
  return found;
}

}  // namespace heddle::gui
