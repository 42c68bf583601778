#include "gui/timeline/counter_painter.h"

#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/timeline_layout.h"

namespace heddle::gui {

/// A column a pixel: the largest value in it. Its cost follows pixels and the points in view.
void paintCounter(QPainter& painter, const TimeAxis& axis, const Counter& counter,
                  const Interval& time, const QRect& rect) {
  const double most = counter.most();
  const Colors& c = colors();
  painter.setPen(QPen(c.line, 0));
  painter.drawLine(rect.bottomLeft(), rect.bottomRight());
  if (most <= 0) return;
  const auto timeAt = [&](int column) {
    return static_cast<int64_t>(std::floor(axis.toTime(rect.left() + column))) - time.begin;
  };
  std::vector<QRect> columns;
  auto point = std::ranges::upper_bound(counter.points, timeAt(0), {}, &Counter::Point::timeUs);
  double now = counter.at(timeAt(0));
  for (int column = 0; column < rect.width() && timeAt(column) <= time.length(); ++column) {
    double high = now;
    for (; point != counter.points.end() && point->timeUs < timeAt(column + 1); ++point) {
      now = point->value;
      high = std::max(high, now);
    }
    const int height = static_cast<int>(std::lround(high / most * rect.height()));
    if (height > 0)
      columns.push_back({rect.left() + column, rect.bottom() + 1 - height, 1, height});
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(blend(c.surface, c.muted, 0.55));
  painter.drawRects(columns.data(), static_cast<int>(columns.size()));
}

void paintCounterLabel(QPainter& painter, const Counter& counter, const QRect& rect) {
  const QRect label(metric::group, rect.top(), TimelineLayout::kLabelWidth - metric::group - 8,
                    rect.height() / 2);
  painter.setFont(font::text(11));
  painter.setPen(colors().text);
  painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(counter.name, Qt::ElideRight, label.width()));
  painter.setFont(font::mono(11));
  painter.setPen(colors().muted);
  painter.drawText(label.translated(0, label.height()), Qt::AlignLeft | Qt::AlignVCenter,
                   QObject::tr("0 to %1").arg(format::bytes(counter.most())));
}

}  // namespace heddle::gui
