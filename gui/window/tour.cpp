#include "gui/window/tour.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kBubbleWidth = 320, kGap = 12, kAround = 4, kFollowMilliseconds = 50;

}  // namespace

Tour::Tour(QWidget* window, std::vector<TourStep> steps,
           std::function<void(const QString&)> showPage)
    : QWidget(window), steps_(std::move(steps)), showPage_(std::move(showPage)) {
  setObjectName(QStringLiteral("tourCover"));
  setAttribute(Qt::WA_DeleteOnClose);
  bubble_ = new QFrame(this);
  bubble_->setProperty("role", "popup");
  bubble_->setFixedWidth(kBubbleWidth);
  QVBoxLayout* column = columnOf(bubble_, {16, 12, 16, 12}, 8);
  title_ = section({});
  text_ = label({});
  text_->setWordWrap(true);
  count_ = caption({});
  next_ = primaryButton({});
  next_->setObjectName(QStringLiteral("tourNext"));
  leave_ = quietButton(tr("Leave"));
  leave_->setObjectName(QStringLiteral("tourLeave"));
  auto* foot = new QHBoxLayout;
  foot->addWidget(count_, 1);
  foot->addWidget(leave_);
  foot->addWidget(next_);
  column->addWidget(title_);
  column->addWidget(text_);
  column->addLayout(foot);
  connect(leave_, &QPushButton::clicked, this, &Tour::end);
  connect(next_, &QPushButton::clicked, this, [this] {
    if (step_ + 1 == steps_.size()) return end();
    ++step_;
    showStep();
  });
  connect(&following_, &QTimer::timeout, this, [this] {
    if (pointedAt() != at_ || size() != parentWidget()->size()) place();
  });
  following_.start(kFollowMilliseconds);
  show();
  showStep();
}

void Tour::showStep() {
  const TourStep& step = steps_[step_];
  showPage_(step.page);
  title_->setText(step.title);
  text_->setText(step.text);
  count_->setText(tr("%1 of %2").arg(step_ + 1).arg(steps_.size()));
  next_->setText(step_ + 1 == steps_.size() ? tr("Done") : tr("Next"));
  bubble_->setAccessibleName(step.title);
  next_->setAccessibleDescription(step.title + QStringLiteral(". ") + step.text);
  raise();
  next_->setFocus();
  place();
}

QRect Tour::pointedAt() const {
  const TourStep& step = steps_[step_];
  for (const QString& name : {step.widget, QStringLiteral("rail-") + step.page})
    for (const QWidget* found : window()->findChildren<QWidget*>(name))
      if (const QRect seen = found->visibleRegion().boundingRect(); !seen.isEmpty())
        return seen.translated(found->mapTo(window(), QPoint(0, 0)));
  return {rect().center(), QSize(1, 1)};
}

void Tour::place() {
  setGeometry(parentWidget()->rect());
  bubble_->adjustSize();
  at_ = pointedAt();
  const QRect at = at_.adjusted(-kAround, -kAround, kAround, kAround);
  const QSize size = bubble_->size();
  // At the right, the left, below or above: the first of them that has room; else within.
  QPoint corner = at.topLeft() + QPoint(kGap, kGap);
  if (at.right() + kGap + size.width() <= width())
    corner = {at.right() + kGap, at.top()};
  else if (at.left() - kGap - size.width() >= 0)
    corner = {at.left() - kGap - size.width(), at.top()};
  else if (at.bottom() + kGap + size.height() <= height())
    corner = {at.left(), at.bottom() + kGap};
  else if (at.top() - kGap - size.height() >= 0)
    corner = {at.left(), at.top() - kGap - size.height()};
  corner.setX(std::clamp(corner.x(), kGap, std::max(kGap, width() - size.width() - kGap)));
  corner.setY(std::clamp(corner.y(), kGap, std::max(kGap, height() - size.height() - kGap)));
  bubble_->move(corner);
  update();
}

void Tour::end() {
  following_.stop();
  Q_EMIT ended();
  close();
}

void Tour::paintEvent(QPaintEvent*) {
  const QRectF at = QRectF(at_).adjusted(-kAround, -kAround, kAround, kAround);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath around;
  around.addRect(rect());
  QPainterPath hole;
  hole.addRoundedRect(at, metric::radius, metric::radius);
  painter.fillPath(around.subtracted(hole), QColor(0, 0, 0, 110));
  painter.setPen(QPen(colors().accent, 2));
  painter.drawPath(hole);
}

void Tour::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return end();
  QWidget::keyPressEvent(event);
}

/// The window below is covered.
bool Tour::focusNextPrevChild(bool) {
  (next_->hasFocus() ? leave_ : next_)->setFocus(Qt::TabFocusReason);
  return true;
}

}  // namespace heddle::gui
