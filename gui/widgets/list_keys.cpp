#include "gui/widgets/list_keys.h"

#include <QCoreApplication>
#include <QKeyEvent>

namespace heddle::gui {

ListKeys::ListKeys(QLineEdit* field, QListView* list, std::function<void(const QModelIndex&)> take)
    : QObject(field), list_(list), take_(std::move(take)) {
  field->installEventFilter(this);
}

bool ListKeys::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
      QCoreApplication::sendEvent(list_, event);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (list_->currentIndex().isValid()) take_(list_->currentIndex());
      return true;
    default:
      return false;
  }
}

}  // namespace heddle::gui
