// Layouts of widgets: columns, rows, scroll areas.
#pragma once

#include <QHBoxLayout>
#include <QMargins>
#include <QScrollArea>
#include <QVBoxLayout>

namespace heddle::gui {

/// Makes a widget a column or a row of others, with so much room around them and between them.
QVBoxLayout* columnOf(QWidget* widget, const QMargins& around = {}, int between = 0);
QHBoxLayout* rowOf(QWidget* widget, const QMargins& around = {}, int between = 0);

/// Makes `head` a row of 48 px, with so much room at its sides.
QHBoxLayout* headRow(QWidget* head, int side);

/// As tall as there is room, no wider than it, with the background of its parent.
QScrollArea* scrolled(QWidget* content, QWidget* parent = nullptr);

}  // namespace heddle::gui
