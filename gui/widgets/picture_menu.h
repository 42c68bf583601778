// A painted widget's menu: its values as a table; copies and saves both. GUI thread only.
#pragma once

#include <QToolButton>
#include <functional>

#include "gui/widgets/text_table.h"

namespace heddle::gui {

/// Called when needed: the values that the widget shows then.
using TableOf = std::function<TextTable()>;

/// Opens on right-click and by the menu key.
void setPictureMenu(QWidget* picture, const TableOf& table);

/// Sets the menu and returns a button that opens it, for the card's header.
QToolButton* pictureButton(QWidget* picture, const QString& name, const TableOf& table);

}  // namespace heddle::gui
