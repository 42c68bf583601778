// The lines of a text that another one lacks: the result of an edit. No widgets.
#pragma once

#include <QList>
#include <QString>

namespace heddle::gui {

struct ChangedLines {
  int at = 0;        // 0-based, of the new text: where the first difference is
  QList<int> lines;  // that are new or other, and not empty; none where some only went
};

ChangedLines changedLines(const QString& before, const QString& after);

}  // namespace heddle::gui
