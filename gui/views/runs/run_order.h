// How runs become the lines of a table: sorted by several columns, in groups of one value or in
// trees of runs that go on from each other. Plain data, without a window.
#pragma once

#include <QList>
#include <QSet>
#include <QString>
#include <vector>

#include "gui/views/runs/runs_model.h"

namespace heddle::gui {

struct RunSort {
  QString key;  // a column's
  bool descending = false;
  bool operator==(const RunSort&) const = default;
};

/// Groups by the run that a run goes on from, not by a column.
inline const QString kByLineage = QStringLiteral("lineage");

/// A line of the table: a run, or the head of a group.
struct RunLine {
  int row = -1;            // of the model; -1: a group's head
  storage::RunId run = 0;  // 0: a group's head
  int group = -1;          // of RunOrder::groups
  int depth = 0;           // in a tree
  int below = 0;           // runs under this one that fold with it
  bool folded = false;
  bool operator==(const RunLine&) const = default;
};

struct RunGroup {
  QString value;          // as the table writes it
  std::vector<int> rows;  // sorted
};

/// The folded groups and trees; they stay so while the runs change.
struct RunFolds {
  QSet<QString> groups;
  QSet<qint64> runs;
};

struct RunOrder {
  std::vector<RunLine> lines;
  std::vector<RunGroup> groups;
};

/// All rows, sorted.
std::vector<int> sortRuns(const RunsModel& model, const QList<RunSort>& sorts);

/// `rows`: those that are shown, sorted. `group`: a column's key, kByLineage, or empty.
RunOrder orderRuns(const RunsModel& model, const std::vector<int>& rows,
                   const QList<RunSort>& sorts, const QString& group, const RunFolds& folds);

/// A column's values over a group.
struct GroupFigures {
  int count = 0;  // runs that have a finite value
  int nonfinite = 0;
  double mean = 0, min = 0, max = 0;
};
GroupFigures figuresOf(const RunsModel& model, const std::vector<int>& rows, int column);

}  // namespace heddle::gui
