#include "gui/actions/menu_key.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QMenu>

namespace heddle::gui {
namespace {

bool isMenuKey(const QKeyEvent& event) {
  return event.key() == Qt::Key_Menu ||
         (event.key() == Qt::Key_F10 && event.modifiers() == Qt::ShiftModifier);
}

void openMenuOf(QWidget* widget) {
  QPoint at = widget->inputMethodQuery(Qt::ImCursorRectangle).toRect().center();
  QPoint global = widget->mapToGlobal(at);
  if (auto* view = qobject_cast<QAbstractItemView*>(widget)) {
    // Views take the place in their viewport's coordinates.
    const QRect item = view->visualRect(view->currentIndex());
    at = item.isValid() ? item.center() : view->viewport()->rect().center();
    global = view->viewport()->mapToGlobal(at);
  }
  QContextMenuEvent event(QContextMenuEvent::Keyboard, at, global);
  QApplication::sendEvent(widget, &event);
}

}  // namespace

MenuKey::MenuKey(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool MenuKey::eventFilter(QObject* watched, QEvent* event) {
  // Some platforms make this of the menu key themselves, at a place that knows no items.
  if (event->type() == QEvent::ContextMenu && event->spontaneous() &&
      static_cast<QContextMenuEvent*>(event)->reason() == QContextMenuEvent::Keyboard)
    return true;
  if (event->type() != QEvent::KeyPress || !isMenuKey(*static_cast<QKeyEvent*>(event)))
    return false;
  auto* widget = qobject_cast<QWidget*>(watched);
  if (!widget || qobject_cast<QMenu*>(widget)) return false;
  openMenuOf(widget);
  return true;
}

}  // namespace heddle::gui
