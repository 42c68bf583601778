#include "gui/actions/enter_key.h"

#include <QApplication>
#include <QCheckBox>
#include <QDialog>
#include <QKeyEvent>
#include <QPushButton>
#include <QRadioButton>
#include <QToolButton>

namespace heddle::gui {
namespace {

bool isEnter(const QKeyEvent& event) {
  const bool plain = (event.modifiers() & ~Qt::KeypadModifier) == Qt::NoModifier;
  return plain && (event.key() == Qt::Key_Return || event.key() == Qt::Key_Enter);
}

/// A default push button handles Enter itself; a check box or radio button in a dialog leaves it to
/// the dialog's default button.
bool leavesEnter(const QAbstractButton& button) {
  const auto* push = qobject_cast<const QPushButton*>(&button);
  if (push) return push->autoDefault() || push->isDefault();
  const bool box = qobject_cast<const QCheckBox*>(&button) != nullptr ||
                   qobject_cast<const QRadioButton*>(&button) != nullptr;
  return box && qobject_cast<const QDialog*>(button.window()) != nullptr;
}

void press(QAbstractButton& button) {
  if (auto* push = qobject_cast<QPushButton*>(&button); push && push->menu())
    return push->showMenu();
  if (auto* tool = qobject_cast<QToolButton*>(&button);
      tool && tool->menu() && tool->popupMode() == QToolButton::InstantPopup)
    return tool->showMenu();
  button.click();
}

}  // namespace

EnterKey::EnterKey(QObject* parent) : QObject(parent) { qApp->installEventFilter(this); }

bool EnterKey::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  const auto& key = *static_cast<const QKeyEvent*>(event);
  auto* button = qobject_cast<QAbstractButton*>(watched);
  if (!button || !button->isEnabled() || !isEnter(key) || leavesEnter(*button)) return false;
  if (!key.isAutoRepeat()) press(*button);
  return true;
}

}  // namespace heddle::gui
