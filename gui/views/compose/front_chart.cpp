#include "gui/views/compose/front_chart.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "base/round_step.h"
#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {
namespace {

constexpr double kLeft = 104, kRight = 40, kTop = 12, kChartBottom = 36;
constexpr double kDot = 4, kNear = 14;
constexpr double kGib = 1 << 30;
constexpr double kAcross = 62, kDown = 44;  // pixels between lines, at least

}  // namespace

FrontChart::FrontChart(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("front"));
  setMouseTracking(true);
  setAccessibleName(tr("Layouts by memory and throughput"));
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void FrontChart::setEmptyText(const QString& text) {
  emptyText_ = text;
  update();
}

void FrontChart::setResult(const plan::SearchResult& result) {
  front_ = result.front;
  given_ = result.given;
  limit_ = result.limit_bytes;
  findRanges();
  setAccessibleDescription(tr("%1 layouts; the rows beside it list them").arg(front_.size()));
  if (hovered_ >= static_cast<int>(front_.size())) hover(-1);
  update();
}

void FrontChart::findRanges() {
  std::vector<const plan::Found*> all;
  for (const plan::Found& found : front_) all.push_back(&found);
  if (given_) all.push_back(&*given_);
  double most = static_cast<double>(limit_), fastest = 0;
  for (const plan::Found* found : all) {
    most = std::max(most, static_cast<double>(found->peak_bytes));
    fastest = std::max(fastest, found->tokens_per_second);
  }
  memory_ = {0, std::max(most * 1.04, 1.0)};
  rate_ = {0, std::max(fastest * 1.08, 1.0)};
}

QRectF FrontChart::field() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kChartBottom);
}

QPointF FrontChart::placed(const plan::Found& found) const {
  const QRectF field = this->field();
  const auto share = [](double value, const Range& range) {
    return (value - range.low) / (range.high - range.low);
  };
  return {field.left() + field.width() * share(static_cast<double>(found.peak_bytes), memory_),
          field.bottom() - field.height() * share(found.tokens_per_second, rate_)};
}

QPointF FrontChart::pointOf(int index) const { return placed(front_[static_cast<size_t>(index)]); }

int FrontChart::indexAt(const QPointF& place) const {
  int nearest = -1;
  double least = kNear;
  for (int i = 0; i < static_cast<int>(front_.size()); ++i) {
    const QPointF way = pointOf(i) - place;
    const double distance = std::hypot(way.x(), way.y());
    if (distance >= least) continue;
    least = distance;
    nearest = i;
  }
  return nearest;
}

void FrontChart::hover(int index) {
  if (index == hovered_) return;
  hovered_ = index;
  setCursor(index < 0 ? Qt::ArrowCursor : Qt::PointingHandCursor);
  update();
  Q_EMIT hoveredChanged(index);
}

void FrontChart::mouseMoveEvent(QMouseEvent* event) { hover(indexAt(event->position())); }

void FrontChart::mouseReleaseEvent(QMouseEvent* event) {
  const int index = indexAt(event->position());
  if (event->button() == Qt::LeftButton && index >= 0) Q_EMIT chosen(index);
}

void FrontChart::leaveEvent(QEvent*) { hover(-1); }

void FrontChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (front_.empty() && !given_) {
    painter.setPen(QPen(colors().line, 1));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), metric::radius,
                            metric::radius);
    painter.setFont(font::text(13));
    painter.setPen(colors().muted);
    painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                     emptyText_);
    return;
  }
  paintAxes(painter);
  paintFront(painter);
}

void FrontChart::paintAxes(QPainter& painter) const {
  const QRectF field = this->field();
  painter.setFont(font::mono(11));
  const double rates = roundStep(rate_.high * kDown / field.height());
  for (double rate = 0; rate <= rate_.high; rate += rates) {
    const double y = std::round(field.bottom() - rate / rate_.high * field.height()) + 0.5;
    painter.setPen(colors().line);
    painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y));
    painter.setPen(colors().muted);
    painter.drawText(QRectF(0, y - 8, kLeft - 8, 16), Qt::AlignRight | Qt::AlignVCenter,
                     format::tokensPerSecond(rate));
  }
  const double sizes = kGib * roundStep(memory_.high / kGib * kAcross / field.width());
  for (double size = 0; size <= memory_.high; size += sizes) {
    const double x = field.left() + size / memory_.high * field.width();
    painter.drawText(QRectF(x - kAcross / 2, field.bottom() + 6, kAcross, 16),
                     Qt::AlignHCenter | Qt::AlignTop, format::bytes(size));
  }
  painter.setFont(font::caption());
  painter.setPen(colors().muted);
  painter.drawText(QRectF(field.left(), height() - 16, field.width(), 16), Qt::AlignCenter,
                   tr("memory of the rank that needs most"));
  if (limit_ <= 0) return;
  const double x = field.left() + field.width() * static_cast<double>(limit_) / memory_.high;
  painter.setPen(QPen(colors().bad, 1, Qt::DashLine));
  painter.drawLine(QPointF(x, field.top()), QPointF(x, field.bottom()));
  painter.setPen(colors().badText);
  painter.drawText(QRectF(x - 64, field.top(), 60, 16), Qt::AlignRight, tr("limit"));
}

void FrontChart::paintFront(QPainter& painter) const {
  QPolygonF line;
  for (const plan::Found& found : front_) line << placed(found);
  painter.setPen(QPen(colors().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(line);
  painter.setPen(Qt::NoPen);
  for (int i = 0; i < static_cast<int>(front_.size()); ++i) {
    const bool lit = i == hovered_;
    painter.setBrush(lit ? colors().text : colors().accent);
    painter.drawEllipse(line[i], lit ? kDot + 2 : kDot, lit ? kDot + 2 : kDot);
  }
  if (!given_) return;
  const QPointF given = placed(*given_);
  painter.setPen(QPen(given_->fits ? colors().text : colors().bad, 2));
  painter.setBrush(colors().surface);
  painter.drawEllipse(given, kDot, kDot);
  painter.setFont(font::caption());
  painter.setPen(colors().text);
  const bool right = given.x() + 90 > field().right();
  painter.drawText(QRectF(right ? given.x() - 88 : given.x() + 8, given.y() + 4, 80, 16),
                   right ? Qt::AlignRight : Qt::AlignLeft, tr("this recipe"));
}

}  // namespace heddle::gui
