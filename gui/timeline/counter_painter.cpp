#include "gui/timeline/counter_painter.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/memory_colors.h"
#include "gui/timeline/timeline_layout.h"

namespace heddle::gui {

/// A column a pixel: the largest value in it. Its cost follows pixels and the points in view.
void paintCounter(QPainter& painter, const TimeAxis& axis, const Counter& counter,
                  const Interval& time, double top, const QRect& rect) {
  const Colors& c = colors();
  painter.setPen(QPen(c.line, 0));
  painter.drawLine(rect.bottomLeft(), rect.bottomRight());
  if (top <= 0) return;
  const auto timeAt = [&](int column) {
    return static_cast<int64_t>(std::floor(axis.toTime(rect.left() + column))) - time.begin;
  };
  constexpr size_t kWhole = plan::kCategories;  // the colour of what has no parts
  std::array<std::vector<QRect>, kWhole + 1> columns;
  const auto heightOf = [&](double value) {
    return std::clamp(static_cast<int>(std::lround(value / top * rect.height())), 0, rect.height());
  };
  const auto add = [&](size_t color, int column, int low, int high) {
    if (high > low)
      columns[color].push_back({rect.left() + column, rect.bottom() + 1 - high, 1, high - low});
  };
  const auto& points = counter.points;
  auto point = std::ranges::upper_bound(points, timeAt(0), {}, &Counter::Point::timeUs);
  for (int column = 0; column < rect.width() && timeAt(column) <= time.length(); ++column) {
    auto most = point == points.begin() ? points.end() : point - 1;
    for (; point != points.end() && point->timeUs < timeAt(column + 1); ++point)
      if (most == points.end() || point->value > most->value) most = point;
    if (most == points.end()) continue;
    if (counter.parts.empty()) {
      add(kWhole, column, 0, heightOf(most->value));
      continue;
    }
    double sum = 0;
    int low = 0;
    const plan::MemoryBytes& parts = counter.parts[static_cast<size_t>(most - points.begin())];
    for (size_t i = 0; i < plan::kCategories; ++i) {
      sum += static_cast<double>(parts.bytes[i]);
      const int high = heightOf(sum);
      add(i, column, low, high);
      low = std::max(low, high);
    }
  }
  painter.setPen(Qt::NoPen);
  for (size_t i = 0; i < columns.size(); ++i) {
    painter.setBrush(i == kWhole ? blend(c.surface, c.muted, 0.55)
                                 : colorOf(static_cast<plan::Category>(i)));
    painter.drawRects(columns[i].data(), static_cast<int>(columns[i].size()));
  }
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
                   QObject::tr("at most %1").arg(format::bytes(counter.most())));
}

}  // namespace heddle::gui
