#include "gui/widgets/tab_order.h"

#include <QWidget>

namespace heddle::gui {
namespace {

/// All of its widgets that can have the focus, in the present order. Qt leaves the others in place.
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

QWidget* setTabOrders(const QList<QWidget*>& wholes) { return setTabOrders(nullptr, wholes); }

QWidget* setTabOrders(QWidget* from, const QList<QWidget*>& wholes) {
  QWidget* last = from;
  for (QWidget* whole : wholes)
    for (QWidget* stop : stopsOf(whole)) {
      if (last != nullptr) QWidget::setTabOrder(last, stop);
      last = stop;
    }
  return last;
}

void setTabLast(QWidget* whole) {
  QWidget* window = whole->window();
  QWidget* last = nullptr;
  for (QWidget* at = window->nextInFocusChain(); at != window; at = at->nextInFocusChain())
    if (at->focusPolicy() != Qt::NoFocus && at != whole && !whole->isAncestorOf(at)) last = at;
  if (last != nullptr) setTabOrders(last, {whole});
}

}  // namespace heddle::gui
