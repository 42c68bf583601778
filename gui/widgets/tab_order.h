// The order in which Tab visits widgets, where it differs from the order of their creation: widgets
// made or moved into a window later would come last.
#pragma once

#include <QList>

class QWidget;

namespace heddle::gui {

/// Tab visits each of these with its contents before the next. All are in one window.
/// Returns the last stop; null if there is none.
QWidget* setTabOrders(const QList<QWidget*>& wholes);

/// The same, after `from` alone, which may contain them.
QWidget* setTabOrders(QWidget* from, const QList<QWidget*>& wholes);

/// Tab visits it, with its contents, after everything else in its window.
void setTabLast(QWidget* whole);

}  // namespace heddle::gui
