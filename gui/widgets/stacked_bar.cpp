#include "gui/widgets/stacked_bar.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>

#include "gui/theme/theme.h"

namespace heddle::gui {

StackedBar::StackedBar(int height, QWidget* parent) : QWidget(parent) {
  setFixedHeight(height);
  setMinimumWidth(64);
  setAccessibleName(tr("Parts of the whole"));
}

void StackedBar::setParts(QVector<Part> parts, double whole) {
  parts_ = std::move(parts);
  double sum = 0;
  QStringList texts;
  for (const Part& part : parts_) {
    sum += part.value;
    texts << part.text;
  }
  whole_ = std::max(whole, sum) > 0 ? std::max(whole, sum) : 1;
  setAccessibleDescription(texts.join(QStringLiteral(", ")));
  update();
}

void StackedBar::setMark(double value) {
  mark_ = value;
  update();
}

QRectF StackedBar::rectOf(qsizetype part) const {
  double before = 0;
  for (qsizetype i = 0; i < part; ++i) before += parts_[i].value;
  return {width() * before / whole_, 0, width() * parts_[part].value / whole_, double(height())};
}

void StackedBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath clip;
  clip.addRoundedRect(QRectF(rect()), 2, 2);
  painter.setClipPath(clip);
  painter.fillRect(rect(), colors().raised);
  for (qsizetype i = 0; i < parts_.size(); ++i) {
    const QRectF part = rectOf(i);
    painter.fillRect(i + 1 < parts_.size() ? part.adjusted(0, 0, -1, 0) : part, parts_[i].color);
  }
  if (mark_ > 0 && mark_ <= whole_)
    painter.fillRect(QRectF(width() * mark_ / whole_ - 1, 0, 2, height()), colors().bad);
}

bool StackedBar::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  for (qsizetype i = 0; i < parts_.size(); ++i)
    if (rectOf(i).contains(help->pos()))
      QToolTip::showText(help->globalPos(), parts_[i].text, this);
  return true;
}

Swatch::Swatch(const QColor& color, QWidget* parent) : QWidget(parent), color_(color) {
  setFixedSize(10, 10);
}

void Swatch::setColor(const QColor& color) {
  color_ = color;
  update();
}

void Swatch::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color_);
  painter.drawRoundedRect(QRectF(rect()), 2, 2);
}

}  // namespace heddle::gui
