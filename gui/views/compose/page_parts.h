// What the panels of the page are made of.
#pragma once

#include <QHBoxLayout>
#include <QScrollArea>

namespace heddle::gui {

/// As tall as there is room, no wider than it.
QScrollArea* scrolled(QWidget* widget, QWidget* parent = nullptr);

/// Makes `head` a row of 48 px, with so much room at its sides.
QHBoxLayout* headRow(QWidget* head, int side);

}  // namespace heddle::gui
