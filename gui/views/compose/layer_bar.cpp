#include "gui/views/compose/layer_bar.h"

#include <QToolButton>

#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kGap = 3;  // between buttons; twice that and more between groups
constexpr int kGroupGap = 8;

QWidget* groupOf(const QList<QAction*>& actions) {
  auto* group = new QWidget;
  QHBoxLayout* row = rowOf(group, {}, kGap);
  for (QAction* action : actions) {
    auto* button = new QToolButton;
    button->setObjectName(action->objectName());
    button->setProperty("role", "button");
    button->setDefaultAction(action);
    row->addWidget(button);
  }
  return group;
}

}  // namespace

LayerBar::LayerBar(const QList<QAction*>& buckets, const QList<QAction*>& recomputation)
    : caption_(caption({})), groups_(new QHBoxLayout) {
  caption_->setObjectName(QStringLiteral("chosenLayers"));
  QVBoxLayout* column = columnOf(this, {}, 2);
  column->addWidget(caption_);
  groups_->setSpacing(kGroupGap);
  groups_->addWidget(groupOf(buckets), 0, Qt::AlignLeft);
  groups_->addWidget(groupOf(recomputation), 0, Qt::AlignLeft);
  groups_->addStretch(1);
  column->addLayout(groups_);
}

void LayerBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  int row = kGroupGap;
  for (int i = 0; i < 2; ++i) row += groups_->itemAt(i)->sizeHint().width();
  groups_->setDirection(width() < row ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

}  // namespace heddle::gui
