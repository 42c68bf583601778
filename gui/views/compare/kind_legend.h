// The legend of timelines: what the colours mean.
#pragma once

#include <QList>
#include <QWidget>

namespace heddle::gui {

/// A swatch and a word for each kind of time.
QList<QWidget*> kindLegend();

}  // namespace heddle::gui
