#include "gui/views/compose/why_popup.h"

#include <QGridLayout>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

#include "gui/widgets/basics.h"
#include "gui/widgets/focus_line.h"

namespace heddle::gui {
namespace {

constexpr int kWidest = 920, kHighest = 460, kReason = 300;

/// Text on the left, numbers on the right, a last column of words as wide as it may be.
QWidget* makeTable(const Why& why) {
  auto* table = new QWidget;
  table->setProperty("role", "page");
  auto* grid = new QGridLayout(table);
  grid->setContentsMargins(0, 0, 8, 0);
  grid->setHorizontalSpacing(16);
  grid->setVerticalSpacing(4);
  const qsizetype last = why.head.size() - 1;
  for (int column = 0; column <= last; ++column) {
    const bool words = column == 0 || (column == last && why.head.last() == QObject::tr("why"));
    const Qt::Alignment side = (words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignTop;
    grid->addWidget(caption(why.head[column]), 0, column, side);
    for (int row = 0; row < why.rows.size(); ++row) {
      QLabel* cell = mono(why.rows[row].value(column));
      if (column == last && words) {
        setRole(cell, "");
        cell->setWordWrap(true);
        cell->setFixedWidth(kReason);
      }
      grid->addWidget(cell, row + 1, column, side);
    }
  }
  return table;
}

}  // namespace

WhyPopup::WhyPopup(const Why& why, QWidget* parent) : QFrame(parent, Qt::Popup) {
  setObjectName(QStringLiteral("why"));
  setProperty("role", "popup");
  setAttribute(Qt::WA_DeleteOnClose);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(16, 12, 8, 12);
  column->setSpacing(8);
  column->addWidget(section(why.title));
  for (const QString& step : why.formula) {
    QLabel* line = mono(step);
    line->setObjectName(QStringLiteral("formula"));
    line->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(line);
  }
  if (!why.rows.isEmpty()) {
    auto* scroll = new QScrollArea;
    scroll->setAccessibleName(why.title);
    new FocusLine(scroll);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    QWidget* table = makeTable(why);
    scroll->setWidget(table);
    table->adjustSize();
    scroll->setFixedHeight(std::min(table->height() + 2, kHighest));
    scroll->setMinimumWidth(
        std::min(table->width() + scroll->verticalScrollBar()->sizeHint().width(), kWidest));
    column->addWidget(scroll);
  }
  if (!why.foot.isEmpty()) column->addWidget(muted(why.foot));
}

void WhyPopup::open(const QWidget* at) {
  adjustSize();
  const QRect room = at->screen()->availableGeometry();
  const QPoint corner = at->mapToGlobal(QPoint(0, 0));
  int x = corner.x() - width() - 8;
  if (x < room.left()) x = corner.x() + at->width() + 8;
  move(std::clamp(x, room.left(), std::max(room.left(), room.right() - width())),
       std::clamp(corner.y(), room.top(), std::max(room.top(), room.bottom() - height())));
  show();
  QWidget* rows = findChild<QScrollArea*>();
  (rows != nullptr ? rows : this)->setFocus();  // for the arrow keys
}

}  // namespace heddle::gui
