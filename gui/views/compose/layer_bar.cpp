#include "gui/views/compose/layer_bar.h"

#include <QToolButton>

#include "gui/widgets/basics.h"
#include "gui/widgets/folding_row.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kBarGap = 3;  // between buttons; twice that and more between groups
constexpr int kGroupGap = 8;

QWidget* groupOf(const QList<QAction*>& actions) {
  auto* group = new QWidget;
  QHBoxLayout* row = rowOf(group, {}, kBarGap);
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

LayerBar::LayerBar(const QList<QAction*>& buckets, const QList<QAction*>& recomputation,
                   QWidget* beside)
    : caption_(new ElidedLabel({}, "caption")) {
  caption_->setObjectName(QStringLiteral("chosenLayers"));
  QVBoxLayout* column = columnOf(this, {}, 2);
  auto* head = new QHBoxLayout;
  head->addWidget(caption_, 1);
  head->addWidget(beside);
  column->addLayout(head);
  column->addWidget(new FoldingRow({groupOf(buckets), groupOf(recomputation)}, kGroupGap));
}

}  // namespace heddle::gui
