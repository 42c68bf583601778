// Tab's order: the order in which one reads a window. Qt's own is the order in which its widgets
// were made, and pages make theirs whenever they show something else. GUI thread only.
#pragma once

class QWidget;

namespace heddle::gui {

/// Moves the keyboard to the next widget of `window` that Tab visits, or to the one before: for a
/// window's focusNextPrevChild(). It goes row by row as layouts and splitters have them, into each
/// widget before the next; children that no layout holds follow the others, by their places.
/// Returns false where there is none.
bool moveFocus(QWidget& window, bool next);

/// The first widget that Tab visits; null: none.
QWidget* firstTabStop(QWidget& window);

/// Tab visits `widget` right after `before`, wherever it is placed: a bubble after its field.
void setTabAfter(QWidget& widget, QWidget& before);

}  // namespace heddle::gui
