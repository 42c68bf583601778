// A run's stroke: colour and dash, the same on every page. Okabe–Ito in a variant per scheme.
#pragma once

#include <QColor>
#include <QList>
#include <QPen>
#include <QVector>

#include "gui/theme/tokens.h"

namespace heddle::gui {

inline constexpr int kRunColors = 8;

/// How a run is drawn. The dash stands on chips, labels and the highlighted curve; ordinary curves
/// are solid and one pixel wide (dashed pens cost a hundred times more).
struct RunStroke {
  QColor color;
  QVector<qreal> dash;  // in pen widths; empty: solid
  int marker = 0;       // from the ninth run on: 1, 2 … tells runs of one colour apart
};

/// The stroke of a slot: 0 to 7 have their own colours, beyond that colour × marker.
RunStroke runStroke(int slot, Scheme scheme);

/// A slot for each run: its id modulo 8 where that is free, else the next free one, so that runs
/// shown together differ and a run keeps its colour from page to page as far as that goes.
QList<int> runSlots(const QList<qint64>& runs);

}  // namespace heddle::gui
