#include "gui/charts/curve_layer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/theme/run_colors.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

// Raw, next to its smoothed companion: the fainter the more curves cover each other.
constexpr double kFaint = 0.4, kFaintest = 0.12;
/// Above so many curves their raw lines are a carpet that shows nothing and takes most of a frame:
/// only a highlighted curve has its own.
constexpr size_t kMaxRaw = 16;
constexpr double kBehind = 0.5;  // a curve, next to a highlighted one
constexpr double kBandOpacity = 0.22;
constexpr double kBetweenMarks = 113;  // pixels, on each of a few curves
constexpr double kFewCurves = 8;
constexpr double kLoneRadius = 2;  // pixels, of a sample that no line reaches
constexpr double kGapSize = 7;
/// Above so many curves antialiased lines would take longer than a frame.
constexpr size_t kMaxAntialiased = 12;
constexpr double kFar = 1e5;  // pixels: further away is out of sight

/// From a plot's coordinates to pixels, without a call for each point.
class Scale {
 public:
  explicit Scale(const QCPAxis& axis) : log_(axis.scaleType() == QCPAxis::stLogarithmic) {
    const double low = at(axis.range().lower), high = at(axis.range().upper);
    const double from = axis.coordToPixel(axis.range().lower);
    perUnit_ = (axis.coordToPixel(axis.range().upper) - from) / (high - low);
    origin_ = from - low * perUnit_;
  }
  /// On a logarithmic axis nothing is at 0 or below: such values are far off.
  double operator()(double value) const {
    if (log_ && !(value > 0)) return perUnit_ < 0 ? kFar : -kFar;
    return std::clamp(origin_ + at(value) * perUnit_, -kFar, kFar);
  }

 private:
  double at(double value) const { return log_ ? std::log(value) : value; }
  bool log_;
  double origin_ = 0, perUnit_ = 1;
};

QPolygonF triangle(const QPointF& at) {
  const double half = kGapSize / 2;
  return QPolygonF({at + QPointF(-half, half), at + QPointF(half, half), at + QPointF(0, -half)});
}

}  // namespace

void CurveLayer::draw(QCPPainter* painter) {
  const bool highlights = std::ranges::any_of(curves_, &DrawnCurve::highlighted);
  const auto colorOf = [&](const DrawnCurve& curve) {
    return highlights && !curve.highlighted ? blend(colors().surface, curve.color, kBehind)
                                            : curve.color;
  };
  const double faint = std::max(
      kFaintest, kFaint / std::sqrt(static_cast<double>(std::max<size_t>(1, curves_.size()))));
  // Faint lines are behind all others, what is highlighted is in front.
  for (const DrawnCurve& curve : curves_)
    if (curve.hasBand) drawBand(*painter, curve);
  painter->setAntialiasing(curves_.size() <= kMaxAntialiased);
  for (const bool highlighted : {false, true}) {
    for (const DrawnCurve& curve : curves_)
      if (!curve.smooth.empty() && !curve.hasBand && curve.highlighted == highlighted &&
          Theme::instance().samplesBehind() && (highlighted || curves_.size() <= kMaxRaw))
        drawLine(*painter, curve.raw, blend(colors().surface, colorOf(curve), faint),
                 Extremes::drawn, 1);
  }
  for (const bool highlighted : {false, true}) {
    for (size_t i = 0; i < curves_.size(); ++i) {
      const DrawnCurve& curve = curves_[i];
      if (curve.highlighted != highlighted) continue;
      if (highlighted) painter->setAntialiasing(true);
      const bool smooth = !curve.smooth.empty();
      drawLine(*painter, curve.line(), colorOf(curve),
               smooth || curve.hasBand ? Extremes::leftOut : Extremes::drawn,
               highlighted && smooth ? 2 : 1);
      drawLone(*painter, curve);
      drawMarks(*painter, curve, i);
    }
  }
  for (const DrawnCurve& curve : curves_) drawGaps(*painter, curve);
}

void CurveLayer::drawLine(QCPPainter& painter, const std::vector<Column>& columns,
                          const QColor& color, Extremes extremes, int width) const {
  const Scale x(*keyAxis()), y(*valueAxis());
  painter.setPen(QPen(color, width));
  painter.setBrush(Qt::NoBrush);
  QPolygonF line;
  line.reserve(static_cast<qsizetype>(columns.size()) * 2);
  const auto finish = [&] {
    if (line.size() > 1) painter.drawPolyline(line);
    line.clear();
  };
  for (const Column& column : columns) {
    if (!std::isfinite(column.last)) {
      finish();
      continue;
    }
    const double at = x(column.x);
    if (extremes == Extremes::leftOut || !(column.min < column.max)) {
      line.append({at, y(column.last)});
      continue;
    }
    // From the end that is nearer to where the line comes from to the other one.
    const double low = y(column.min), high = y(column.max);
    const double from = line.isEmpty() ? low : line.last().y();
    const bool lowFirst = std::abs(from - low) < std::abs(from - high);
    line.append({at, lowFirst ? low : high});
    line.append({at, lowFirst ? high : low});
  }
  finish();
}

void CurveLayer::drawBand(QCPPainter& painter, const DrawnCurve& curve) const {
  const Scale x(*keyAxis()), y(*valueAxis());
  QColor fill = curve.color;
  fill.setAlphaF(kBandOpacity);
  painter.setAntialiasing(false);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  for (size_t i = 0; i < curve.raw.size();) {
    QPolygonF top, area;
    for (; i < curve.raw.size() && std::isfinite(curve.raw[i].last); ++i) {
      area.append({x(curve.raw[i].x), y(curve.raw[i].min)});
      top.append({x(curve.raw[i].x), y(curve.raw[i].max)});
    }
    ++i;
    std::reverse(top.begin(), top.end());
    area += top;
    if (area.size() > 3) painter.drawPolygon(area);
  }
}

void CurveLayer::drawMarks(QCPPainter& painter, const DrawnCurve& curve, size_t number) const {
  if (curve.marker < 0) return;
  const Scale x(*keyAxis()), y(*valueAxis());
  // Neighbours on the same path are marked at different places, however many they are.
  const double between =
      kBetweenMarks * std::max(1.0, static_cast<double>(curves_.size()) / kFewCurves);
  double next = keyAxis()->coordToPixel(keyAxis()->range().lower) + 24 +
                std::fmod(static_cast<double>(number) * 37, between);
  const QPainterPath mark = markerPath(curve.marker);
  painter.setAntialiasing(true);
  for (const Column& column : curve.line()) {
    const double at = x(column.x);
    if (at < next || !std::isfinite(column.last)) continue;
    painter.fillPath(mark.translated(at, y(column.last)), curve.color);
    next += between * (std::floor((at - next) / between) + 1);
  }
  painter.setAntialiasing(curves_.size() <= kMaxAntialiased);
}

void CurveLayer::drawLone(QCPPainter& painter, const DrawnCurve& curve) const {
  painter.setPen(Qt::NoPen);
  painter.setBrush(curve.color);
  for (const Column& column : lone(curve.raw))
    painter.drawEllipse(coordsToPixels(column.x, column.last), kLoneRadius, kLoneRadius);
}

void CurveLayer::drawGaps(QCPPainter& painter, const DrawnCurve& curve) const {
  if (curve.gaps.empty()) return;
  const Scale x(*keyAxis());
  const double bottom = valueAxis()->coordToPixel(valueAxis()->range().lower) - kGapSize;
  painter.setAntialiasing(true);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colors().bad);
  double last = -kFar;
  for (const double gap : curve.gaps) {
    if (x(gap) < last + 1) continue;
    last = x(gap);
    painter.drawPolygon(triangle({last, bottom}));
  }
}

int CurveLayer::linesThrough(const QRectF& place) const {
  const Scale x(*keyAxis()), y(*valueAxis());
  int count = 0;
  for (const DrawnCurve& curve : curves_) {
    const Column* before = nullptr;
    for (const Column& column : curve.raw) {
      const Column* last = std::exchange(before, &column);
      if (!std::isfinite(column.last)) before = nullptr;
      if (!before) continue;
      const double at = x(column.x);
      double left = at, top = y(column.max), bottom = y(column.min);
      if (last) {
        left = x(last->x);
        top = std::min(top, y(last->last));
        bottom = std::max(bottom, y(last->last));
      }
      const QRectF stretch(QPointF(left, top), QPointF(at, bottom));
      count += stretch.adjusted(-1, -1, 1, 1).intersects(place);
      if (at > place.right() + 1) break;
    }
  }
  return count;
}

}  // namespace heddle::gui
