// The order in which Tab visits widgets, where it is not the order in which they were made: those
// made or moved into a window later come last otherwise.
#pragma once

#include <QList>

class QWidget;

namespace heddle::gui {

/// Tab visits each of these with all that it contains before the next. All are in one window.
void setTabOrders(const QList<QWidget*>& wholes);

/// The same, after `from` alone, which may contain them.
void setTabOrders(QWidget* from, const QList<QWidget*>& wholes);

}  // namespace heddle::gui
