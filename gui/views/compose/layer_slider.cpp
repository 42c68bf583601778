#include "gui/views/compose/layer_slider.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"
#include "gui/views/compose/layer_strip.h"

namespace heddle::gui {

LayerSlider::LayerSlider(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("layerSlider"));
  setFocusPolicy(Qt::StrongFocus);
  setCursor(Qt::SplitHCursor);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void LayerSlider::setException(const LayerException& exception, int layers) {
  exception_ = exception;
  layers_ = std::max(1, layers);
  setAccessibleName(
      tr("Layers %1 to %2 of %3").arg(exception.first).arg(exception.last).arg(layers));
  update();
}

QRectF LayerSlider::bar() const {
  const double pitch = static_cast<double>(width()) / layers_;
  return {exception_.first * pitch, 2, (exception_.last - exception_.first + 1) * pitch,
          height() - 4.0};
}

void LayerSlider::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = colors();
  const double pitch = static_cast<double>(width()) / layers_;
  painter.fillRect(QRectF(0, 2, width(), height() - 4), blend(c.surface, c.muted, 0.2));
  painter.fillRect(bar(), colorOf(exception_.mode));
  if (pitch >= 5) {
    painter.setPen(QPen(c.surface, 1));
    for (int layer = 1; layer < layers_; ++layer)
      painter.drawLine(QPointF(layer * pitch, 2), QPointF(layer * pitch, height() - 2));
  }
  painter.setPen(Qt::NoPen);
  painter.setBrush(hasFocus() ? c.accent : c.text);
  for (const double x : {bar().left(), bar().right()})
    painter.drawRoundedRect(QRectF(std::clamp(x - 2, 0.0, width() - 4.0), 0, 4, height()), 2, 2);
}

void LayerSlider::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const double x = event->position().x();
  dragged_ = std::abs(x - bar().left()) < std::abs(x - bar().right()) ? End::first : End::last;
  Q_EMIT pressed();
}

void LayerSlider::mouseMoveEvent(QMouseEvent* event) {
  if (dragged_ == End::none) return;
  // The end is between two layers: one counts once its middle is passed.
  const double edge = event->position().x() * layers_ / std::max(1, width());
  const int between = static_cast<int>(std::lround(edge));
  move(dragged_ == End::first ? between : between - 1);
}

void LayerSlider::move(int layer) {
  LayerException next = exception_;
  if (dragged_ == End::first) {
    next.first = std::clamp(layer, 0, next.last);
  } else {
    next.last = std::clamp(layer, next.first, layers_ - 1);
  }
  if (next == exception_) return;
  setException(next, layers_);
  Q_EMIT moved(next.first, next.last);
}

void LayerSlider::mouseReleaseEvent(QMouseEvent*) {
  if (dragged_ == End::none) return;
  dragged_ = End::none;
  Q_EMIT released();
}

void LayerSlider::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (step == 0) return QWidget::keyPressEvent(event);
  dragged_ = event->modifiers() & Qt::ShiftModifier ? End::first : End::last;
  Q_EMIT pressed();
  move((dragged_ == End::first ? exception_.first : exception_.last) + step);
  dragged_ = End::none;
  Q_EMIT released();
}

}  // namespace heddle::gui
