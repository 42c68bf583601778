#include "gui/timeline/timeline_painter.h"

#include <QFontMetricsF>
#include <QObject>
#include <QPainter>
#include <optional>

#include "gui/theme/icons.h"
#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"
#include "gui/timeline/counter_painter.h"
#include "gui/timeline/lane_painter.h"
#include "gui/timeline/span_text.h"

namespace heddle::gui {
namespace {

constexpr double kTickSpacing = 84;
constexpr int kLeft = metric::group;
constexpr int kTitle = 18, kSubtitle = 16;  // heights of lines next to the lanes

void paintGrid(QPainter& painter, const TimelineScene& scene) {
  painter.setPen(QPen(blend(colors().surface, colors().line, 0.6), 0));
  for (const TimeTick& tick : timeTicks(scene.axis, kTickSpacing)) {
    const double x = scene.axis.toPixel(tick.timeUs);
    painter.drawLine(QPointF(x, TimelineLayout::kAxisHeight), QPointF(x, scene.size.height()));
  }
}

void paintBand(QPainter& painter, const TimelineScene& scene, const TimelineRow& row,
               const QRect& rect) {
  const Colors& c = colors();
  painter.setFont(font::text(11));
  const QFontMetricsF names(painter.font());
  const QFontMetricsF digits(font::mono(11));
  for (const PhaseRun& run : row.timeline->phases()) {
    const auto at = [&](int64_t time) {
      return std::clamp(scene.axis.toPixel(static_cast<double>(time + row.shiftUs)),
                        static_cast<double>(rect.left()),
                        rect.left() + static_cast<double>(rect.width()));
    };
    const QRectF shape(at(run.time.begin), rect.top(), at(run.time.end) - at(run.time.begin) - 1,
                       rect.height());
    if (shape.width() <= 0) continue;
    const bool optimizer = run.phase == Kind::optimizer;
    const double tint = run.phase == Kind::forward ? 0.14 : 0.22;
    painter.fillRect(shape, blend(c.surface, optimizer ? c.optimizer : c.compute, tint));
    const QString name = run.phase == Kind::forward    ? QObject::tr("forward")
                         : run.phase == Kind::backward ? QObject::tr("backward")
                                                       : QObject::tr("optimizer");
    const QString time = duration(run.time.length());
    const double nameWidth = names.horizontalAdvance(name);
    if (nameWidth + 16 > shape.width()) continue;
    const QRectF inner = shape.adjusted(8, 0, -4, 0);
    painter.setFont(font::text(11));
    painter.setPen(optimizer ? c.goodText : c.text);
    painter.drawText(inner, Qt::AlignLeft | Qt::AlignVCenter, name);
    if (nameWidth + digits.horizontalAdvance(time) + 22 > shape.width()) continue;
    painter.setFont(font::mono(11));
    painter.setPen(optimizer ? c.goodText : c.muted);
    painter.drawText(inner.adjusted(nameWidth + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     time);
  }
}

/// A long name in several lines, as far as there is room: none of it is left out without need.
QStringList brokenInto(QString name, const QFontMetrics& metrics, int width, int most) {
  QStringList lines;
  while (lines.size() + 1 < most && metrics.horizontalAdvance(name) > width) {
    qsizetype fits = 1;
    while (metrics.horizontalAdvance(name.left(fits + 1)) <= width) ++fits;
    lines << name.left(fits);
    name.remove(0, fits);
  }
  return lines << metrics.elidedText(name, Qt::ElideMiddle, width);
}

void paintLabels(QPainter& painter, const TimelineRow& row, const RowRects& rects, bool pinned) {
  const Colors& c = colors();
  const int laneWidth = 38;
  const int laneRight = TimelineLayout::kLabelWidth - 8;
  painter.setFont(font::text(11));
  painter.setPen(c.muted);
  const char* names[] = {QT_TRANSLATE_NOOP("Timeline", "comp"),
                         QT_TRANSLATE_NOOP("Timeline", "comm")};
  for (size_t stream = 0; stream < 2; ++stream) {
    const QRect& lane = rects.lanes[stream];
    if (lane.isNull() || rects.collapsed) continue;
    painter.drawText(QRect(laneRight - laneWidth, lane.top(), laneWidth, lane.height()),
                     Qt::AlignRight | Qt::AlignVCenter, QObject::tr(names[stream]));
  }

  const QRect lanes = rects.content();
  int y = lanes.top() - (rects.collapsed ? 1 : 0);
  const int bottom = lanes.bottom();
  const int width = laneRight - laneWidth - kLeft + 2;
  const auto line = [&](const QString& text, const QFont& font, const QColor& color, int height) {
    if (text.isEmpty() || y + height > bottom + 2) return;
    painter.setFont(font);
    painter.setPen(color);
    painter.drawText(QRect(kLeft, y, width, height), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(font).elidedText(text, Qt::ElideRight, width));
    y += height;
  };
  if (pinned) icon(QStringLiteral("pin"), Tone::muted).paint(&painter, 2, y + 3, 12, 12);
  if (row.color.isValid() && !rects.collapsed) {
    paintRunStroke(painter, QRectF(kLeft, y, 24, 8), {row.color, row.marker});
    y += 10;
  }
  const QColor title = row.warn ? c.warnText : c.text;
  const QFont bold = font::text(13, QFont::DemiBold);
  const int rest = row.subtitle.isEmpty() ? 0 : kSubtitle;
  for (const QString& part :
       brokenInto(row.title, QFontMetrics(bold), width, (bottom + 2 - y - rest) / kTitle))
    line(part, bold, title, kTitle);
  line(row.subtitle, font::mono(11), c.muted, kSubtitle);
  if (row.note.isEmpty()) return;
  const QColor& note = row.warn ? c.warnText : c.muted;
  painter.setFont(font::text(11));
  painter.setPen(note);
  const QRect room(kLeft, y, width, bottom - y);
  const QRect needed =
      painter.fontMetrics().boundingRect(room, Qt::AlignLeft | Qt::TextWordWrap, row.note);
  if (needed.height() <= room.height()) {
    painter.drawText(room, Qt::AlignLeft | Qt::TextWordWrap, row.note);
  } else {
    // The number matters most in "straggler +30.2 ms".
    QString words = row.note;
    while (painter.fontMetrics().horizontalAdvance(words) > width && words.contains(QChar(' ')))
      words = words.section(QChar(' '), 1);
    line(words, font::text(11), note, 16);
  }
}

void paintEnd(QPainter& painter, const TimelineScene& scene, const TimelineRow& row,
              const RowRects& rects) {
  const double x = scene.axis.toPixel(static_cast<double>(row.shiftUs + row.timeline->lengthUs()));
  if (x < scene.axis.left || x > scene.axis.left + scene.axis.width + 1) return;
  const int top = rects.band.isNull() ? rects.content().top() : rects.band.top();
  painter.setPen(QPen(colors().text, 1));
  painter.drawLine(QPointF(x, top), QPointF(x, rects.content().bottom() + 1));
}

void paintRow(QPainter& painter, LanePainter& lanes, const TimelineScene& scene, size_t index) {
  const TimelineRow& row = scene.rows[index];
  const RowRects& rects = scene.layout.rows[index];
  if (row.warn) {
    painter.fillRect(rects.whole, blend(colors().surface, colors().warn, 0.07));
    painter.fillRect(QRect(0, rects.whole.top(), 3, rects.whole.height()), colors().warn);
  }
  paintLabels(painter, row, rects, scene.lanes.pinned.contains(row.title));
  if (!row.timeline || row.timeline->empty()) {
    painter.setFont(font::text(12));
    painter.setPen(colors().muted);
    painter.drawText(rects.content(), Qt::AlignCenter,
                     QObject::tr("nothing recorded in this step"));
    return;
  }
  painter.save();
  painter.setClipRect(
      QRectF(scene.axis.left, rects.whole.top(), scene.axis.width + 1, rects.whole.height()),
      Qt::IntersectClip);
  if (!rects.band.isNull()) paintBand(painter, scene, row, rects.band);
  static const std::vector<uint32_t> kNoSearch;
  for (size_t stream = 0; stream < 2; ++stream) {
    if (rects.lanes[stream].isNull()) continue;
    const LaneRef lane{index, static_cast<Stream>(stream)};
    lanes.paint(row.timeline->lane(lane.stream), rects.lanes[stream], row.shiftUs,
                scene.found.empty() ? kNoSearch : scene.found.inPieces(lane));
  }
  for (size_t i = 0; i < rects.counters.size(); ++i)
    paintCounter(painter, scene.axis, *row.counters[i],
                 {row.shiftUs, row.shiftUs + row.timeline->lengthUs()},
                 scene.counterTops.at(row.counters[i]->name), rects.counters[i]);
  painter.restore();
  for (size_t i = 0; i < rects.counters.size(); ++i)
    paintCounterLabel(painter, *row.counters[i], rects.counters[i]);
  paintEnd(painter, scene, row, rects);
}

/// A bar under each lane that the path goes along, and lines from lane to lane. What is narrower
/// than a pixel joins what is before it.
void paintPath(QPainter& painter, const TimelineScene& scene) {
  if (scene.path.empty()) return;
  constexpr int kBar = 4;
  const QColor color = colors().text;
  std::vector<QRect> bars;
  std::optional<LaneRef> before;
  double last = -1;
  for (const PathMark& mark : scene.path) {
    const RowRects& rects = scene.layout.rows[mark.lane.row];
    const QRect lane = rects.lanes[static_cast<size_t>(mark.lane.stream)].translated(
        0, -scene.scrollOf(mark.lane.row));
    const int64_t shift = scene.rows[mark.lane.row].shiftUs;
    const double from = scene.axis.toPixel(static_cast<double>(mark.time.begin + shift));
    const double to = scene.axis.toPixel(static_cast<double>(mark.time.end + shift));
    if (rects.whole.isNull() || lane.isNull() || to < scene.axis.left) continue;
    if (from > scene.axis.left + scene.axis.width) break;
    const bool changes = before && *before != mark.lane;
    if (!changes && before && to - last < 1) continue;
    const int left = static_cast<int>(std::max(from, scene.axis.left));
    const int right = static_cast<int>(std::min(to, scene.axis.left + scene.axis.width));
    if (changes) {
      const RowRects& was = scene.layout.rows[before->row];
      const QRect other = was.lanes[static_cast<size_t>(before->stream)].translated(
          0, -scene.scrollOf(before->row));
      const int top = std::min(other.bottom(), lane.bottom()) - kBar + 1;
      const int bottom = std::max(other.bottom(), lane.bottom());
      bars.push_back({left, top, 1, bottom - top + 1});
    }
    bars.push_back({left, lane.bottom() - kBar + 1, std::max(1, right - left), kBar});
    before = mark.lane;
    last = to;
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRects(bars.data(), static_cast<int>(bars.size()));
}

}  // namespace

void paintTimeline(QPainter& painter, const TimelineScene& scene) {
  painter.fillRect(QRect({0, 0}, scene.size), colors().surface);
  paintGrid(painter, scene);
  LanePainter lanes(painter, scene.axis);
  const int sticky = scene.layout.stickyHeight;
  // Rows that scroll end where the pinned ones do.
  for (const bool pinned : {false, true}) {
    painter.save();
    const int top = pinned ? 0 : sticky;
    painter.setClipRect(QRect(0, top, scene.size.width(), scene.size.height() - top));
    if (!pinned) painter.translate(0, -scene.scroll);
    for (const size_t row : scene.layout.order) {
      const RowRects& rects = scene.layout.rows[row];
      const int scroll = scene.scrollOf(row);
      const bool visible =
          rects.whole.bottom() - scroll >= top && rects.whole.top() - scroll < scene.size.height();
      if (rects.sticky == pinned && visible) paintRow(painter, lanes, scene, row);
    }
    painter.restore();
  }
  painter.save();
  painter.setClipRect(QRectF(scene.axis.left, TimelineLayout::kAxisHeight, scene.axis.width + 1,
                             scene.size.height()));
  paintPath(painter, scene);
  painter.restore();
  if (sticky == TimelineLayout::kAxisHeight) return;
  painter.setPen(QPen(colors().muted, 1));
  painter.drawLine(0, sticky, scene.size.width(), sticky);
}

void paintAxis(QPainter& painter, const TimelineScene& scene, const QRectF& taken) {
  painter.fillRect(0, 0, scene.size.width(), TimelineLayout::kAxisHeight, colors().surface);
  painter.setFont(font::mono(11));
  const QFontMetricsF metrics(painter.font());
  painter.setPen(colors().muted);
  for (const TimeTick& tick : timeTicks(scene.axis, kTickSpacing)) {
    const QString text = QString::fromStdString(tick.label);
    const double width = metrics.horizontalAdvance(text);
    const double x = std::clamp(scene.axis.toPixel(tick.timeUs) - width / 2, scene.axis.left,
                                scene.axis.left + scene.axis.width - width);
    const QRectF at(x, 0, width + 1, TimelineLayout::kAxisHeight - 4);
    if (!at.intersects(taken)) painter.drawText(at, Qt::AlignLeft | Qt::AlignVCenter, text);
  }
}

void paintSwatch(QPainter& painter, const QRect& rect, Kind kind) {
  const Colors& c = colors();
  switch (kind) {
    case Kind::forward:
    case Kind::backward:
      painter.fillRect(rect, c.compute);
      break;
    case Kind::optimizer:
      painter.fillRect(rect, c.optimizer);
      break;
    case Kind::hidden:
      painter.fillRect(rect, hatchBrush(painter.device()->devicePixelRatioF()));
      break;
    case Kind::exposed:
      painter.fillRect(rect, c.exposed);
      break;
    case Kind::waiting:
      painter.fillRect(rect, waitingColor());
      break;
  }
}

}  // namespace heddle::gui
