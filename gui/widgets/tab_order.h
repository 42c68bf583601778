// The order in which Tab visits widgets, where it is not the order in which they were made: those
// made or moved into a window later come last otherwise.
#pragma once

#include <QList>

class QWidget;

namespace heddle::gui {

/// Tab visits each of these with all that it contains before the next. All are in one window.
/// Returns the last stop; null: there is none.
QWidget* setTabOrders(const QList<QWidget*>& wholes);

/// The same, after `from` alone, which may contain them.
QWidget* setTabOrders(QWidget* from, const QList<QWidget*>& wholes);

/// Tab visits it, with all that it contains, after all else in its window.
void setTabLast(QWidget* whole);

}  // namespace heddle::gui
