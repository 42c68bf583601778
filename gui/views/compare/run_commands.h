// The commands on compared runs, the same in the menu of a chip and of a table's row, with the same
// keys: B baseline, H hide, T timeline, Del remove.
#pragma once

#include <QKeyEvent>
#include <QMenu>

#include "gui/views/compare/compare_choices.h"
#include "gui/widgets/key_table.h"

namespace heddle::gui {

void fillRunMenu(QMenu& menu, CompareChoices& choices, const QList<qint64>& runs);

KeyTable runKeys();

/// Whether the key is one of theirs; then it is done.
bool pressRunKey(CompareChoices& choices, const QList<qint64>& runs, const QKeyEvent& event);

}  // namespace heddle::gui
