// Keys that are no actions: a chart's, a timeline's, a table's. The help (F1) shows them.
#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>

namespace heddle::gui {

struct KeyLine {
  QList<QKeySequence> keys;  // any of them
  QString text;              // their effect: "Zoom in"
  QString pointer = {};      // the same by mouse: "Ctrl+wheel"
};

/// The keys that one kind of widget takes while it has the keyboard. None occurs twice.
struct KeyTable {
  QString title;
  QList<KeyLine> lines;
};

}  // namespace heddle::gui
