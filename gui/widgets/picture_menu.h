// The menu of a painted widget: its values as a table, and both out of the window. GUI thread only.
#pragma once

#include <QToolButton>
#include <functional>

#include "gui/widgets/text_table.h"

namespace heddle::gui {

/// Asked when it is needed: what the widget shows then.
using TableOf = std::function<TextTable()>;

/// Its context menu, by the right button and by the menu key.
void setPictureMenu(QWidget* picture, const TableOf& table);

/// The same menu, and a button that opens it: for the head of the picture's card.
QToolButton* pictureButton(QWidget* picture, const QString& name, const TableOf& table);

}  // namespace heddle::gui
