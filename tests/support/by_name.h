// Widgets as a screen reader finds them: by accessible name.
#pragma once

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QSizeGrip>
#include <QStringList>

namespace heddle {

/// The name that a screen reader says: the accessible name, or what Qt takes in its place (a
/// button's text, a field's label).
inline QString nameOf(const QWidget* widget) {
  // Qt reports a box's chosen text in place of its name.
  if (!widget->accessibleName().isEmpty()) return widget->accessibleName();
  QAccessibleInterface* face = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
  if (!face) return {};
  for (const auto& [other, relation] : face->relations(QAccessible::Label))
    return other->text(QAccessible::Name);
  return face->text(QAccessible::Name);
}

/// The words a screen reader adds to the name: the accessible description, or the tool tip.
inline QString descriptionOf(const QWidget* widget) {
  QAccessibleInterface* face = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
  return face ? face->text(QAccessible::Description) : QString();
}

/// The one visible widget of that type and name; null: there is none, or there are several.
template <typename Widget = QWidget>
Widget* named(const QWidget* window, const QString& name) {
  Widget* found = nullptr;
  for (Widget* widget : window->findChildren<Widget*>()) {
    if (!widget->isVisible() || nameOf(widget) != name) continue;
    if (found) return nullptr;
    found = widget;
  }
  return found;
}

/// A part of a widget that Qt makes, such as the field of a spin box: its owner has the name.
inline bool isPart(const QWidget* widget) {
  const QWidget* parent = widget->parentWidget();
  if (qobject_cast<const QScrollBar*>(widget) && widget->accessibleName().isEmpty()) return true;
  if (qobject_cast<const QSizeGrip*>(widget)) return true;
  if (widget->objectName() == QLatin1String("qt_scrollarea_viewport")) return true;
  return qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QAbstractSpinBox*>(parent) ||
         qobject_cast<const QComboBox*>(parent) ||
         (parent && parent->inherits("QTableView") && widget->inherits("QTableCornerButton"));
}

/// A person can do something with it by mouse or keyboard.
inline bool isInteractive(const QWidget* widget) {
  if (isPart(widget) || widget->inherits("QHeaderView")) return false;
  if (widget->property("alsoByKey").toBool()) return false;
  if (widget->focusProxy() && widget->parentWidget() == widget->focusProxy()) return false;
  const bool points =
      widget->testAttribute(Qt::WA_SetCursor) && widget->cursor().shape() == Qt::PointingHandCursor;
  return points || widget->focusPolicy() & Qt::TabFocus ||
         qobject_cast<const QAbstractButton*>(widget);
}

/// The visible, interactive widgets of the window, without those of other windows over it.
inline QList<QWidget*> interactiveIn(const QWidget* window) {
  QList<QWidget*> found;
  for (QWidget* widget : window->findChildren<QWidget*>())
    if (widget->isVisible() && widget->window() == window->window() && isInteractive(widget))
      found << widget;
  return found;
}

/// For messages: type, name, object name, and the parents' types.
inline QString describe(const QWidget* widget) {
  QString path = QLatin1String(widget->metaObject()->className());
  const QString name = nameOf(widget).simplified();
  path += QStringLiteral(" \"%1\"").arg(name);
  if (!widget->objectName().isEmpty()) path += QLatin1Char('#') + widget->objectName();
  for (const QWidget* at = widget->parentWidget(); at && !at->isWindow(); at = at->parentWidget())
    path += QStringLiteral(" < ") + QLatin1String(at->metaObject()->className()) +
            (at->objectName().isEmpty() ? QString() : QLatin1Char('#') + at->objectName());
  return path;
}

/// A line for each interactive widget without a name, and for each two of one kind and one parent
/// with the same.
inline QStringList badlyNamed(const QWidget* window) {
  QStringList faults;
  QHash<QString, const QWidget*> seen;
  for (const QWidget* widget : interactiveIn(window)) {
    const QString name = nameOf(widget);
    if (name.trimmed().isEmpty()) {
      faults << QStringLiteral("no name: ") + describe(widget);
      continue;
    }
    const QString key = QStringLiteral("%1 %2 %3")
                            .arg(quintptr(widget->parentWidget()))
                            .arg(QLatin1String(widget->metaObject()->className()), name);
    if (seen.contains(key)) faults << QStringLiteral("name twice: ") + describe(widget);
    seen.insert(key, widget);
  }
  return faults;
}

}  // namespace heddle
