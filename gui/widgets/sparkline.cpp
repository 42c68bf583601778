#include "gui/widgets/sparkline.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

/// The values as lines inside `rect`, a new one after each gap; more values than pixels fold into
/// min and max per pixel.
QList<QPolygonF> polylines(const QRectF& rect, const QVector<double>& values, double low,
                           double high) {
  const double span = high > low ? high - low : 1;
  const auto y = [&](double value) {
    return high > low ? rect.bottom() - (value - low) / span * rect.height() : rect.center().y();
  };
  const qsizetype count = values.size();
  const qsizetype columns = std::min(count, std::max<qsizetype>(1, std::lround(rect.width())));
  const double step = count <= 1 ? 0 : rect.width() / double(columns - (columns == count ? 1 : 0));
  QList<QPolygonF> lines(1);
  for (qsizetype column = 0; column < columns; ++column) {
    double lowest = INFINITY, highest = -INFINITY;
    for (qsizetype i = column * count / columns; i < (column + 1) * count / columns; ++i) {
      if (!std::isfinite(values[i])) continue;
      lowest = std::min(lowest, values[i]);
      highest = std::max(highest, values[i]);
    }
    if (lowest > highest) {
      if (!lines.last().isEmpty()) lines.append(QPolygonF());
      continue;
    }
    const double x = rect.left() + double(column) * step + (columns == count ? 0 : 0.5);
    lines.last() << QPointF(x, y(highest));
    if (highest > lowest) lines.last() << QPointF(x, y(lowest));
  }
  return lines;
}

}  // namespace

void paintSparkline(QPainter* painter, const QRectF& rect, const QVector<double>& values,
                    const QColor& color, bool filled) {
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return;
  const QRectF inner = rect.adjusted(0.5, 1.5, -0.5, -1.5);
  QColor fill = color;
  fill.setAlphaF(0.12);
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  for (const QPolygonF& points : polylines(inner, values, low, high)) {
    if (points.isEmpty()) continue;
    if (filled) {
      QPolygonF area = points;
      area << QPointF(points.last().x(), rect.bottom())
           << QPointF(points.first().x(), rect.bottom());
      painter->setPen(Qt::NoPen);
      painter->setBrush(fill);
      painter->drawPolygon(area);
    }
    painter->setBrush(Qt::NoBrush);
    painter->setPen(QPen(color, 1));
    if (points.size() > 1)
      painter->drawPolyline(points);
    else
      painter->drawEllipse(points.first(), 1, 1);  // alone between two gaps
  }
  painter->restore();
}

Sparkline::Sparkline(QWidget* parent) : QWidget(parent) {
  setFixedHeight(18);
  setAttribute(Qt::WA_TransparentForMouseEvents);
  setAccessibleName(tr("Its course"));
  setValues({});
}

void Sparkline::setValues(QVector<double> values) {
  values_ = std::move(values);
  setAccessibleDescription(values_.isEmpty() ? tr("No values")
                                             : tr("%1 values, from %2 to %3")
                                                   .arg(format::count(values_.size()),
                                                        format::significant(values_.first()),
                                                        format::significant(values_.last())));
  update();
}

void Sparkline::setColor(const QColor& color) {
  color_ = color;
  update();
}

void Sparkline::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintSparkline(&painter, rect(), values_, color_.isValid() ? color_ : colors().accent, true);
}

}  // namespace heddle::gui
