#include "gui/widgets/folding_row.h"

#include <QEvent>
#include <algorithm>

namespace heddle::gui {
namespace {

constexpr int kBelow = 4;  // between one group and the next below it

}  // namespace

FoldingRow::FoldingRow(const QList<QWidget*>& groups, int gap, bool stretches)
    : groups_(groups), gap_(gap), layout_(new QBoxLayout(QBoxLayout::LeftToRight, this)) {
  layout_->setContentsMargins(0, 0, 0, 0);
  layout_->setSpacing(gap_);
  for (QWidget* group : groups_) {
    const bool first = stretches && group == groups_.first();
    layout_->addWidget(group, first ? 1 : 0, first ? Qt::Alignment() : Qt::AlignLeft);
  }
  if (!stretches) layout_->addStretch(1);
}

QSize FoldingRow::minimumSizeHint() const {
  QSize size = QWidget::minimumSizeHint();
  int widest = 0;
  for (const QWidget* group : groups_) widest = std::max(widest, group->minimumSizeHint().width());
  return {widest, size.height()};
}

bool FoldingRow::event(QEvent* event) {
  if (event->type() == QEvent::LayoutRequest) fold();  // a group needs more or less room
  return QWidget::event(event);
}

void FoldingRow::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fold();
}

void FoldingRow::fold() {
  int row = -gap_;
  for (const QWidget* group : groups_)
    if (!group->isHidden()) row += gap_ + group->sizeHint().width();
  const bool folds = width() < row;
  if (folds == (layout_->direction() == QBoxLayout::TopToBottom)) return;
  layout_->setDirection(folds ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  layout_->setSpacing(folds ? kBelow : gap_);
}

}  // namespace heddle::gui
