#include "gui/actions/tab_key.h"

#include <QApplication>
#include <QKeyEvent>

#include "gui/widgets/tab_order.h"

namespace heddle::gui {

TabKey::TabKey(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool TabKey::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  auto* widget = qobject_cast<QWidget*>(watched);
  if (widget && (key == Qt::Key_Tab || key == Qt::Key_Backtab) &&
      widget->window()->focusWidget() == widget)
    orderTabs(*widget->window());
  return false;
}

}  // namespace heddle::gui
