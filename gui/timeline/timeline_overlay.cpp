#include "gui/timeline/timeline_overlay.h"

#include <QFontMetrics>
#include <QObject>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <optional>

#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/transfer_ends.h"

namespace heddle::gui {
namespace {

QRectF rectOf(const TimelineScene& scene, const SpanRef& ref) {
  const TimelineRow& row = scene.rows[ref.lane.row];
  const telemetry::Span& span = row.timeline->lane(ref.lane.stream).spans()[ref.span];
  const QRect lane =
      scene.layout.rows[ref.lane.row].lanes[static_cast<size_t>(ref.lane.stream)].translated(
          0, -scene.scrollOf(ref.lane.row));
  const double begin = scene.axis.toPixel(static_cast<double>(span.start_us + row.shiftUs));
  const double end =
      scene.axis.toPixel(static_cast<double>(span.start_us + span.duration_us + row.shiftUs));
  const double left = std::max(begin, scene.axis.left - 2);
  const double right = std::min(end, scene.axis.left + scene.axis.width + 2);
  return QRectF(left, lane.top(), std::max(2.0, right - left), lane.height());
}

QString pillText(const Interval& range) {
  return QObject::tr("%1 to %2, %3")
      .arg(duration(range.begin), duration(range.end), duration(range.length()));
}

QRectF pillRect(const TimelineScene& scene, const Interval& range) {
  const double middle = scene.axis.toPixel(static_cast<double>(range.begin + range.end) / 2);
  const double width = QFontMetrics(font::mono(11)).horizontalAdvance(pillText(range)) + 16;
  const double x =
      std::clamp(middle - width / 2, scene.axis.left,
                 std::max(scene.axis.left, scene.axis.left + scene.axis.width - width));
  return QRectF(x, 2, width, 20);
}

void paintSelection(QPainter& painter, const TimelineScene& scene, const Interval& range) {
  const Colors& c = colors();
  const double left = scene.axis.toPixel(static_cast<double>(range.begin));
  const double right = scene.axis.toPixel(static_cast<double>(range.end));
  const int top = TimelineLayout::kAxisHeight;
  QColor tint = c.accent;
  tint.setAlphaF(0.12);
  painter.fillRect(QRectF(left, top, right - left, scene.size.height() - top), tint);
  painter.setPen(QPen(c.accent, 1));
  painter.drawLine(QPointF(left, top), QPointF(left, scene.size.height()));
  painter.drawLine(QPointF(right, top), QPointF(right, scene.size.height()));

  const QString text = pillText(range);
  const QRectF pill = pillRect(scene, range);
  painter.setFont(font::mono(11));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(c.accent);
  painter.drawRoundedRect(pill, 4, 4);
  painter.setPen(c.onAccent);
  painter.drawText(pill, Qt::AlignCenter, text);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintOutline(QPainter& painter, const QRectF& rect, const QColor& color, int width) {
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(color, width));
  painter.drawRect(rect.adjusted(0, 0, -1, -1));
}

/// From the begin of the chosen transfer to its other ends. Those of hidden rows have none.
void paintEnds(QPainter& painter, const TimelineScene& scene, const SpanRef& chosen) {
  const auto ends = endsOf(scene.rows, chosen);
  if (!ends) return;
  const auto shown = [&](const SpanRef& ref) {
    return !scene.layout.rows[ref.lane.row].lanes[static_cast<size_t>(ref.lane.stream)].isNull();
  };
  const QRectF from = rectOf(scene, ends->own);
  painter.setRenderHint(QPainter::Antialiasing);
  const QColor color = colors().text;
  for (const SpanRef& end : ends->others) {
    if (!shown(end)) continue;
    const QRectF to = rectOf(scene, end);
    paintOutline(painter, to, color, 1);
    const bool below = to.center().y() > from.center().y();
    const QPointF begin(from.left() + 1, below ? from.bottom() : from.top());
    const QPointF tip(to.left() + 1, below ? to.top() : to.bottom());
    painter.setPen(QPen(color, 1));
    painter.drawLine(begin, tip);
    const double up = below ? -6 : 6;
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF({tip, tip + QPointF(-3, up), tip + QPointF(3, up)}));
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void paintTip(QPainter& painter, const TimelineScene& scene, const SpanText& text, QPoint pointer) {
  const Colors& c = colors();
  const QFont titleFont = font::text(12, QFont::DemiBold);
  const QFont lineFont = font::mono(11);
  QStringList lines = text.lines;
  if (!text.exposed.isEmpty()) lines << text.exposed;
  int width = QFontMetrics(titleFont).horizontalAdvance(text.title);
  for (const QString& line : lines) {
    width = std::max(width, QFontMetrics(lineFont).horizontalAdvance(line));
  }
  constexpr int kPadding = 10;
  constexpr int kLine = 18;
  QRect box(pointer + QPoint(14, 16),
            QSize(width + 2 * kPadding, kLine * (1 + static_cast<int>(lines.size())) + 12));
  if (box.right() > scene.size.width() - 4) box.moveRight(pointer.x() - 14);
  if (box.left() < 4) box.moveLeft(4);
  if (box.bottom() > scene.size.height() - 4) box.moveBottom(pointer.y() - 10);
  if (box.top() < 2) box.moveTop(2);

  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(c.accent, 1));
  painter.setBrush(c.window);
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
  painter.setRenderHint(QPainter::Antialiasing, false);
  QRect at(box.left() + kPadding, box.top() + 6, width + 2, kLine);
  painter.setFont(titleFont);
  painter.setPen(c.text);
  painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter, text.title);
  painter.setFont(lineFont);
  for (const QString& line : lines) {
    at.translate(0, kLine);
    painter.setPen(line == text.exposed ? c.badText : c.muted);
    painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter, line);
  }
}

/// Describes the counter under the pointer, within its step.
std::optional<SpanText> counterTextAt(const TimelineScene& scene, QPoint pointer) {
  for (const size_t index : scene.layout.order) {
    const TimelineRow& row = scene.rows[index];
    const RowRects& rects = scene.layout.rows[index];
    const QPoint at = pointer + QPoint(0, scene.scrollOf(index));
    if (!rects.whole.contains(at) || !row.timeline) continue;
    if (!rects.sticky && pointer.y() < scene.layout.stickyHeight) continue;
    for (size_t i = 0; i < rects.counters.size(); ++i) {
      const int64_t time = std::llround(scene.axis.toTime(pointer.x())) - row.shiftUs;
      if (rects.counters[i].contains(at) && time >= 0 && time <= row.timeline->lengthUs())
        return describeCounter(*row.counters[i], time);
    }
  }
  return std::nullopt;
}

}  // namespace

void paintOverlay(QPainter& painter, const TimelineScene& scene, const TimelineOverlay& overlay) {
  const Colors& c = colors();
  const QRectF lanes(scene.axis.left, 0, scene.axis.width + 2, scene.size.height());
  paintAxis(
      painter, scene,
      overlay.selection ? pillRect(scene, *overlay.selection).adjusted(-4, 0, 4, 0) : QRectF());
  painter.save();
  painter.setClipRect(lanes);
  if (overlay.selection) paintSelection(painter, scene, *overlay.selection);
  painter.setClipRect(lanes.adjusted(-2, TimelineLayout::kAxisHeight, 2, 0));
  if (overlay.hovered) paintOutline(painter, rectOf(scene, *overlay.hovered), c.text, 1);
  if (overlay.current) paintOutline(painter, rectOf(scene, *overlay.current), c.text, 2);
  if (overlay.current) paintEnds(painter, scene, *overlay.current);
  if (overlay.pointer && lanes.contains(*overlay.pointer)) {
    QColor hair = c.accent;
    hair.setAlphaF(0.7);
    painter.setPen(QPen(hair, 1));
    painter.drawLine(overlay.pointer->x(), TimelineLayout::kAxisHeight, overlay.pointer->x(),
                     scene.size.height());
  }
  painter.restore();
  if (!overlay.pointer) return;
  if (overlay.hovered)
    paintTip(painter, scene, describeSpan(scene.rows, *overlay.hovered), *overlay.pointer);
  else if (const auto counter = counterTextAt(scene, *overlay.pointer))
    paintTip(painter, scene, *counter, *overlay.pointer);
}

}  // namespace heddle::gui
