// The application's style sheet: heddle.qss with the tokens of a scheme put in.
#pragma once

#include <QString>

#include "gui/theme/tokens.h"

namespace heddle::gui {

/// Every `@name` of heddle.qss replaced by the colour or the icon of that name.
QString styleSheet(const Colors& colors, Scheme scheme);

}  // namespace heddle::gui
