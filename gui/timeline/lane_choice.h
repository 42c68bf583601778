// Which rows and lanes of a timeline a person wants to see, and how. Plain data.
#pragma once

#include <QSet>
#include <QString>
#include <array>

#include "gui/timeline/timeline_layout.h"
#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

struct LaneChoice {
  QSet<QString> pinned, collapsed, hidden;  // rows by their titles, which outlive a step
  QString filter;                           // "0-7, 12": ranks; or a part of the title
  std::array<bool, 2> streams{true, true};  // compute, communication
  bool counters = false;                    // lanes of numbers

  bool operator==(const LaneChoice&) const = default;
  bool shows(const TimelineRow& row) const;
  RowShape shapeOf(const TimelineRow& row) const;
  /// Whether some row that there is may not be shown.
  bool hidesRows() const { return !hidden.isEmpty() || !filter.isEmpty(); }
};

/// Reads and keeps it in the settings, under `key`.
LaneChoice readLanes(const QString& key);
void keepLanes(const QString& key, const LaneChoice& lanes);

}  // namespace heddle::gui
