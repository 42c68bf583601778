// A message at the lower right of a window that goes by itself; errors stay until closed.
#pragma once

#include <QFrame>
#include <QString>

#include "gui/theme/icons.h"

namespace heddle::gui {

/// Shows a message over the widget's window. Tone bad: an error, stays until closed. Newer ones
/// take the place of the older one.
void showToast(QWidget* over, const QString& text, Tone tone = Tone::text);

}  // namespace heddle::gui
