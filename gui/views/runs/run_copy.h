// Rows of the runs table as text, for the clipboard and for files. Plain data.
#pragma once

#include <QList>
#include <QString>

#include "gui/views/runs/runs_model.h"

namespace heddle::gui {

/// CSV is for other programs: its numbers have all their digits and no units.
enum class RunText { tabs, markdown, csv };

/// The runs as rows under the labels of these columns.
QString textOfRuns(const RunsModel& model, const QList<int>& columns, const QList<qint64>& runs,
                   RunText form);

}  // namespace heddle::gui
