// The one registry of actions: menus, shortcuts and the command palette are fed from it.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>

namespace heddle::gui {

class Actions : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  /// Makes an action. The palette shows `group` next to it: "Go to", "Theme", a page's title.
  QAction* add(const QString& group, const QString& text, const QString& iconName = {},
               const QKeySequence& shortcut = {});
  /// Takes in actions that a page has made.
  void add(const QString& group, const QList<QAction*>& actions);

  /// All, in the order in which they were added.
  const QList<QAction*>& all() const { return actions_; }
  static QString groupOf(const QAction* action);

 private:
  QList<QAction*> actions_;
};

}  // namespace heddle::gui
