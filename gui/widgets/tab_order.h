// Tab's order: the order in which one reads a window. Qt's own is the order in which its widgets
// were made. GUI thread only.
#pragma once

class QWidget;

namespace heddle::gui {

/// Tab visits the visible widgets of `window` as its layouts and splitters have them: row by row,
/// and each with all that it contains. Widgets that no layout holds follow those next to them that
/// one does, by their places.
void orderTabs(QWidget& window);

/// Tab visits `widget` right after `before`, wherever it is placed: a bubble after its field.
void setTabAfter(QWidget& widget, QWidget& before);

}  // namespace heddle::gui
