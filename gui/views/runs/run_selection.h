// The chosen runs. The table's selection is what is seen of them: a run that the filter or a fold
// hides stays chosen until something else is chosen in its place. A row that is clicked while none
// is ticked is chosen and not ticked: who then ticks another does not mean it too.
#pragma once

#include <QItemSelectionModel>
#include <QList>
#include <QSet>

#include "gui/views/runs/run_lines.h"

namespace heddle::gui {

class RunSelection : public QItemSelectionModel {
  Q_OBJECT

 public:
  RunSelection(RunLines& lines, QObject* parent = nullptr);

  /// In the order of the table, then those that are hidden.
  QList<qint64> runs() const;
  int hidden() const { return static_cast<int>(hidden_.size()); }
  /// The chosen ones were ticked, or are several.
  bool ticks() const { return ticks_; }
  /// Also for runs that a fold or the filter hides.
  bool isTicked(qint64 run) const;
  /// Lines come and go at the moment: the same runs stay chosen and looked at.
  bool isKeeping() const { return keeping_; }

  /// Ticks or unticks runs, wherever they are; others stay as they are.
  void tick(const QList<qint64>& runs, bool ticked);

  using QItemSelectionModel::select;
  void select(const QItemSelection& selection, SelectionFlags command) override;

 Q_SIGNALS:
  void chosenChanged();

 private:
  void keep();
  void restore();
  void choose(const QList<qint64>& runs);
  QItemSelection stretchesOf(QList<int> lines) const;

  RunLines& lines_;
  QList<qint64> hidden_;
  QSet<qint64> hiddenRuns_;  // the same, for look-ups
  bool keeping_ = false;
  bool ticks_ = false;
  // While lines come and go.
  QList<qint64> kept_;
  qint64 current_ = 0;
  QString currentGroup_;
  int currentColumn_ = 0;
};

}  // namespace heddle::gui
