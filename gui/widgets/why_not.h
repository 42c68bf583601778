// Why a disabled action cannot be done now; the command palette says it.
#pragma once

#include <QAction>

namespace heddle::gui {

/// The action's missing condition, as the end of a sentence: "tick two runs or more".
inline void setWhyNot(QAction* action, const QString& reason) {
  action->setProperty("whyNot", reason);
}
inline QString whyNot(const QAction* action) { return action->property("whyNot").toString(); }

}  // namespace heddle::gui
