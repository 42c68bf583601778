#include "gui/actions/actions.h"

#include "gui/theme/icons.h"

namespace heddle::gui {
namespace {

constexpr char kGroup[] = "heddleGroup";

}  // namespace

QAction* Actions::add(const QString& group, const QString& text, const QString& iconName,
                      const QKeySequence& shortcut) {
  auto* action = new QAction(text, this);
  if (!iconName.isEmpty()) action->setIcon(icon(iconName));
  action->setShortcut(shortcut);
  add(group, {action});
  return action;
}

void Actions::add(const QString& group, const QList<QAction*>& actions) {
  for (QAction* action : actions) {
    action->setProperty(kGroup, group);
    actions_.append(action);
    connect(action, &QObject::destroyed, this,
            [this](QObject* gone) { actions_.removeIf([gone](QAction* a) { return a == gone; }); });
  }
}

QString Actions::groupOf(const QAction* action) { return action->property(kGroup).toString(); }

}  // namespace heddle::gui
