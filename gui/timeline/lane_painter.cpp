#include "gui/timeline/lane_painter.h"

#include <QFontMetricsF>
#include <QPixmap>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"

namespace heddle::gui {
namespace {

constexpr double kFoldPixels = 2;
constexpr double kNarrowestHatch = 5;
constexpr double kNarrowestLabel = 34;

QColor baseColor(Kind kind) {
  const Colors& c = colors();
  switch (kind) {
    case Kind::forward:
    case Kind::backward:
      return c.compute;
    case Kind::optimizer:
      return c.optimizer;
    case Kind::hidden:
      return c.hidden;
    case Kind::exposed:
      return c.exposed;
    case Kind::waiting:
      return waitingColor();
  }
  return c.text;
}

/// Forward is paler than backward, and neighbouring layers differ a little.
double opacity(Kind kind, int shade) {
  switch (kind) {
    case Kind::forward:
      return shade == 0 ? 0.58 : 0.70;
    case Kind::backward:
    case Kind::optimizer:
      return shade == 0 ? 0.86 : 1.0;
    case Kind::hidden:
      return 0.80;
    case Kind::exposed:
    case Kind::waiting:
      return 1.0;
  }
  return 1.0;
}

QColor readableOn(const QColor& fill) {
  const QColor dark("#0d1117");
  const QColor light("#ffffff");
  return contrast(fill, dark) >= contrast(fill, light) ? dark : light;
}

}  // namespace

QColor waitingColor() { return blend(colors().surface, colors().exposed, 0.38); }

QBrush hatchBrush(qreal pixelRatio) {
  const int side = 6;
  QPixmap tile(QSize(side, side) * pixelRatio);
  tile.setDevicePixelRatio(pixelRatio);
  const Colors& c = colors();
  tile.fill(blend(c.surface, c.hidden, 0.42));
  QPainter painter(&tile);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(c.hidden, 2));
  for (const int offset : {-side, 0, side}) {
    painter.drawLine(QPointF(offset - 1, side + 1), QPointF(offset + side + 1, -1));
  }
  return QBrush(tile);
}

LanePainter::LanePainter(QPainter& painter, const TimeAxis& axis)
    : painter_(painter), axis_(axis), hatch_(hatchBrush(painter.device()->devicePixelRatioF())) {
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int shade = 0; shade < kShades; ++shade) {
      const auto of = static_cast<Kind>(kind);
      const QColor full = blend(colors().surface, baseColor(of), opacity(of, shade));
      for (int level = 0; level < kLevels; ++level) {
        colors_[kind][shade][level] =
            blend(colors().surface, full, static_cast<double>(level + 1) / kLevels);
      }
    }
  }
}

void LanePainter::paint(const Lane& lane, const QRect& rect, int64_t shiftUs,
                        const std::vector<uint32_t>& hits) {
  const Interval view{static_cast<int64_t>(std::floor(axis_.beginUs)) - shiftUs,
                      static_cast<int64_t>(std::ceil(axis_.endUs)) - shiftUs};
  for (const Mark& mark : lane.marks(view, kFoldPixels * axis_.usPerPixel())) {
    const bool found = hits.empty() || hits[mark.first + mark.count] > hits[mark.first];
    collect(lane, mark, rect, shiftUs, found);
  }
  painter_.setPen(Qt::NoPen);
  for (int kind = 0; kind < kKinds; ++kind) {
    for (int shade = 0; shade < kShades; ++shade) {
      for (int level = 0; level < kLevels; ++level) {
        auto& batch = batches_[kind][shade][level];
        if (batch.empty()) continue;
        painter_.setBrush(colors_[kind][shade][level]);
        painter_.drawRects(batch.data(), static_cast<int>(batch.size()));
        batch.clear();
      }
    }
  }
  if (!hatched_.empty()) {
    painter_.setBrush(hatch_);
    painter_.drawRects(hatched_.data(), static_cast<int>(hatched_.size()));
    hatched_.clear();
  }
  paintLabels(lane);
}

void LanePainter::collect(const Lane& lane, const Mark& mark, const QRect& rect, int64_t shiftUs,
                          bool found) {
  const auto at = [&](int64_t time) { return axis_.toPixel(static_cast<double>(time + shiftUs)); };
  const double left = std::max(at(mark.time.begin), static_cast<double>(rect.left()));
  const double right = std::min(at(mark.time.end), rect.left() + static_cast<double>(rect.width()));
  if (right < rect.left() || left > rect.left() + rect.width()) return;
  const double width = right - left;
  // A gap of one pixel keeps spans apart where there is room for it; pieces of one span stay
  // joined.
  const Piece& last = lane.pieces()[mark.first + mark.count - 1];
  const telemetry::Span& span = lane.spans()[last.span];
  const bool ends = last.time.end >= span.start_us + span.duration_us;
  // Whole pixels: Qt fills those rectangles several times faster.
  const int from = static_cast<int>(std::lround(left));
  const int to = static_cast<int>(std::lround(right)) - (width >= 5 && ends ? 1 : 0);
  const QRect shape(from, rect.top(), std::max(1, to - from), rect.height());
  const auto kind = static_cast<size_t>(mark.kind);
  const size_t shade = lane.group(lane.pieces()[mark.first].span) % kShades;
  int level = kLevels - 1;
  if (width < kFoldPixels) {
    level = static_cast<int>(std::lround(mark.coverage * std::min(1.0, width) * (kLevels - 1)));
    level = std::clamp(level, 1, kLevels - 1);
  }
  if (!found) level = 0;
  if (found && mark.kind == Kind::hidden && width >= kNarrowestHatch) {
    hatched_.push_back(shape);
    return;
  }
  auto& batch = batches_[kind][shade][static_cast<size_t>(level)];
  // Where all is narrow, most neighbours have one colour: one rectangle costs Qt less than many.
  if (!batch.empty() && batch.back().right() + 1 >= shape.left())
    batch.back().setRight(std::max(batch.back().right(), shape.right()));
  else
    batch.push_back(shape);
  if (found && mark.count == 1 && width >= kNarrowestLabel) {
    labels_.push_back({shape, mark.first, readableOn(colors_[kind][shade][kLevels - 1])});
  }
}

void LanePainter::paintLabels(const Lane& lane) {
  if (labels_.empty()) return;
  painter_.setFont(font::mono(11));
  const QFontMetricsF metrics(painter_.font());
  for (const Label& label : labels_) {
    const Piece& piece = lane.pieces()[label.piece];
    const QString text = piece.kind == Kind::exposed || piece.kind == Kind::waiting
                             ? duration(piece.time.length())
                             : QString::fromStdString(lane.spans()[piece.span].name);
    if (label.rect.height() < metrics.height() ||
        metrics.horizontalAdvance(text) > label.rect.width() - 8.0) {
      continue;
    }
    painter_.setPen(label.color);
    painter_.drawText(label.rect, Qt::AlignCenter, text);
  }
  labels_.clear();
}

}  // namespace heddle::gui
