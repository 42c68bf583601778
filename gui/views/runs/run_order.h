// How runs become the lines of a table: sorted by several columns; in groups by one column, with
// groups by a second one within them; or in trees of runs that continue each other. Plain data,
// without a window.
#pragma once

#include <QList>
#include <QSet>
#include <QStringList>
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
  int group = -1;          // the innermost, in RunOrder::groups
  int depth = 0;           // in a tree; for a head: the number of groups around it
  int below = 0;           // runs under this one that fold with it
  bool folded = false;
  bool operator==(const RunLine&) const = default;
};

struct RunGroup {
  QString value;          // as the table writes it
  std::vector<int> rows;  // sorted
  int column = -1;        // the column of the value
  QString path;           // its name in RunFolds: the outer groups' values, then `value`
};

/// Separates the values of a path.
inline constexpr QChar kWithin = QChar(0x1f);
/// How deep groups nest.
inline constexpr int kMaxGroupKeys = 2;

/// The folded groups and trees; they stay so while the runs change.
struct RunFolds {
  QSet<QString> groups;  // paths
  QSet<qint64> runs;
};

struct RunOrder {
  std::vector<RunLine> lines;
  std::vector<RunGroup> groups;
};

/// All rows, sorted.
std::vector<int> sortRuns(const RunsModel& model, const QList<RunSort>& sorts);

/// `rows`: the shown rows, sorted. `groups`: columns' keys, outermost first; kByLineage alone; or
/// none.
RunOrder orderRuns(const RunsModel& model, const std::vector<int>& rows,
                   const QList<RunSort>& sorts, const QStringList& groups, const RunFolds& folds);

/// A column's values over a group.
struct GroupFigures {
  int count = 0;  // runs that have a finite value
  int nonfinite = 0;
  double mean = 0, min = 0, max = 0;
};
GroupFigures figuresOf(const RunsModel& model, const std::vector<int>& rows, int column);

}  // namespace heddle::gui
