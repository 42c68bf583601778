// Runs: every run of the store in a table; filter, sort, choose some to compare. Next to it the
// trash.
#pragma once

#include <QStackedWidget>

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/lineage/run_asking.h"
#include "gui/views/runs/filter_bar.h"
#include "gui/views/runs/run_columns.h"
#include "gui/views/runs/run_delegate.h"
#include "gui/views/runs/run_drawer.h"
#include "gui/views/runs/run_import.h"
#include "gui/views/runs/run_selection.h"
#include "gui/views/runs/run_trash.h"
#include "gui/views/runs/runs_table.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class RunsPage : public Page {
  Q_OBJECT

 public:
  explicit RunsPage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QList<QAction*> pageActions() override {
    return {train_,  import_,  compare_, resume_,  fork_,    stop_,
            export_, weights_, untick_,  discard_, restore_, remove_};
  }
  QWidget* headerWidget() override { return where_; }
  void activated() override;
  void showRun(qint64 run) override;
  void showRuns(const QList<qint64>& runs) override;
  void keepLayout() override { layout_->keep(); }
  bool isReady() const override;

  /// Ids of the selected runs, in the order of the table; those that the filter hides come last.
  /// While the menu of a run is open that is not among them: that run.
  QList<qint64> selectedRuns() const { return menuOf_ ? QList{*menuOf_} : selection_->runs(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void makeActions();
  QWidget* makeTable();
  struct Rows {
    std::vector<RunRow> shown;
    qint64 trashed = 0;
  };
  void setRows(Rows rows);
  void showTrash(bool trash);
  void applyFilter(const RunFilter& filter);
  void showSpared();
  void selectionChanged();
  void describeActions();
  /// For the selected runs if `run` is one of them, else for that run alone; the selection stays.
  void showMenu(const QPoint& globalPosition, qint64 run);
  void stopRuns();
  void confirmStop(const storage::RunDetail& run);
  bool stopNow(const storage::RunDetail& run);
  void exportRuns();
  void exportWeights();
  void discardRuns();
  void checkWeights();
  QList<NamedRun> named(const QList<qint64>& runs) const;
  void closeDrawer();
  void say(const QString& text, Tone tone) { Q_EMIT session().message(text, tone); }

  Job reading_;
  // One each: a newer task of a job hides what became of the one before.
  RunAsking* asking_ = nullptr;
  Job stopping_;
  Job exporting_;
  Job converting_;
  Job checking_;
  RunsModel model_;
  RunsProxy proxy_{model_};
  FilterBar* filter_;
  QPushButton* spared_;
  Segment* where_;  // runs or trash
  RunsTable* table_;
  RunSelection* selection_;
  RunColumns* layout_;
  RunTrash* trash_;
  RunImport* importing_;
  RunDelegate* delegate_;
  RunDrawer* drawer_;
  QStackedWidget* stack_;
  EmptyState* empty_;
  EmptyState* nothingTrashed_;
  bool inTrash_ = false;
  bool drawerClosed_ = false;
  qint64 checked_ = 0;          // the run that weightsReason_ is about
  QString weightsReason_;       // why it has no weights to export; empty: it has
  bool weightsAreOld_ = false;  // the store has changed since
  QList<qint64> wanted_;        // to be selected once their rows are there
  std::optional<qint64> menuOf_;
  QAction* train_;
  QAction* import_;
  QAction* compare_;
  QAction* untick_;
  QAction* stop_;
  QAction* export_;
  QAction* resume_;
  QAction* fork_;
  QAction* weights_;
  QAction* discard_;
  QAction* restore_;
  QAction* remove_;
};

}  // namespace heddle::gui
