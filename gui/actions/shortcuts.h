// All keys of the window, for the help: the actions' of the registry and the pages' own.
#pragma once

#include "gui/actions/actions.h"
#include "gui/page.h"

namespace heddle::gui {

/// The shown page's keys first, then those that hold everywhere, then other pages'. A table that
/// two pages have occurs once.
QList<KeyTable> keyTables(const Actions& actions, const QList<Page*>& pages, const Page& shown);

/// "Ctrl+Y or F2, wheel".
QString keysText(const KeyLine& line);

}  // namespace heddle::gui
