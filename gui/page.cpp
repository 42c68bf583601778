#include "gui/page.h"

#include <QAbstractButton>
#include <QApplication>
#include <QScrollArea>

#include "gui/widgets/search_field.h"

namespace heddle::gui {
namespace {

void bringIntoView(QWidget* widget) {
  for (QWidget* at = widget->parentWidget(); at != nullptr; at = at->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(at)) area->ensureWidgetVisible(widget);
}

/// The first search in `whole` that can be typed in, or is opened by a button where there is no
/// room for it.
bool startSearchIn(QWidget* whole) {
  for (SearchField* field : whole->findChildren<SearchField*>()) {
    if (!field->isVisible() || !field->isEnabled() || field->window() != whole->window()) continue;
    bringIntoView(field);
    field->setFocus(Qt::ShortcutFocusReason);
    field->selectAll();
    return true;
  }
  for (QAbstractButton* button : whole->findChildren<QAbstractButton*>()) {
    if (!button->isVisible() || !button->property("opensSearch").toBool()) continue;
    bringIntoView(button);
    button->click();
    return true;
  }
  return false;
}

}  // namespace

bool Page::find() {
  QWidget* focused = QApplication::focusWidget();
  QWidget* at = focused != nullptr && isAncestorOf(focused) ? focused : this;
  for (; at != this; at = at->parentWidget())
    if (qobject_cast<SearchField*>(at) != nullptr || startSearchIn(at)) break;
  return at != this || startSearchIn(this);
}

}  // namespace heddle::gui
