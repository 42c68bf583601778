// The key that explains a key of the recipe, in the form and in the text. F1 alone is the page's
// help.
#pragma once

#include <QKeyEvent>
#include <QKeySequence>

namespace heddle::gui {

constexpr QKeyCombination kHelpOnKey = Qt::SHIFT | Qt::Key_F1;

inline bool isHelpOnKey(const QKeyEvent& event) { return event.keyCombination() == kHelpOnKey; }

}  // namespace heddle::gui
