#include "gui/widgets/tab_order.h"

#include <QWidget>

namespace heddle::gui {
namespace {

/// All of it that can have the keyboard, in the present order. Qt leaves the others where they are.
QList<QWidget*> stopsOf(QWidget* whole) {
  QList<QWidget*> stops;
  QWidget* at = whole;
  do {
    if (at->focusPolicy() != Qt::NoFocus && (at == whole || whole->isAncestorOf(at))) stops << at;
    at = at->nextInFocusChain();
  } while (at != whole);
  return stops;
}

}  // namespace

void setTabOrders(const QList<QWidget*>& wholes) { setTabOrders(nullptr, wholes); }

void setTabOrders(QWidget* from, const QList<QWidget*>& wholes) {
  QWidget* last = from;
  for (QWidget* whole : wholes)
    for (QWidget* stop : stopsOf(whole)) {
      if (last != nullptr) QWidget::setTabOrder(last, stop);
      last = stop;
    }
}

}  // namespace heddle::gui
