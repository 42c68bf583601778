// Rows of the runs table as text for the clipboard. Plain data.
#pragma once

#include <QHeaderView>
#include <QList>
#include <QString>

#include "gui/views/runs/runs_model.h"

namespace heddle::gui {

enum class RunText { tabs, markdown };

/// The runs as rows under the labels of the columns that are shown, in their order on screen.
QString textOfRuns(const RunsModel& model, const QHeaderView& header, const QList<qint64>& runs,
                   RunText form);

}  // namespace heddle::gui
