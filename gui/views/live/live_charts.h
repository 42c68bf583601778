// The curves of the run that is shown: a board of charts, in which the runs that it goes on from
// come first, and those that a person adds are drawn over it. GUI thread only.
#pragma once

#include <QHash>
#include <QPushButton>
#include <QWidget>
#include <vector>

#include "gui/charts/chart_board.h"
#include "gui/models/inherited_curves.h"
#include "gui/views/live/departure.h"
#include "storage/run.h"

namespace heddle::gui {

class LiveCharts : public QWidget {
  Q_OBJECT

 public:
  explicit LiveCharts(Session& session, QWidget* parent = nullptr);

  /// The page turns to another run: nothing is known of it yet.
  void clear();
  /// The run as it is now; what is new of its curves is read.
  void setRun(const storage::RunDetail& run);
  void setAncestors(std::vector<Ancestor> ancestors);
  /// Marks the steps that leave the prediction.
  void setDepartures(const Departures& departures);

  /// Marks the step whose timeline a person has asked for; 0: none.
  void markTimeline(int64_t step);
  /// All runs of the store: those that were added have their names and states from here.
  void setRuns(const std::vector<storage::RunSummary>& runs);
  /// The runs that a person has put over the one that is shown.
  const QList<qint64>& added() const { return added_; }
  void setAdded(QList<qint64> runs);

  /// See Page.
  void keepLayout() { board_->setViews(QStringLiteral("live")); }
  void resetLayout() { board_->resetLayout(); }
  bool isReady() const { return board_->isReady(); }

 private:
  void showReferences(const storage::RunDetail& run);
  void showRuns();
  void offerRuns();
  void add(qint64 run, bool on);

  Session& session_;
  Job listing_;
  ChartBoard* board_;
  QPushButton* addRun_;
  qint64 run_ = 0;
  QString name_;
  std::vector<Ancestor> ancestors_;
  QList<qint64> added_;
  QHash<qint64, QString> names_;  // of these
  std::vector<BoardRun> shown_;
};

}  // namespace heddle::gui
