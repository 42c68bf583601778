// Runs: every run of the store in a table; filter, sort, choose some to compare. Next to it the
// trash.
#pragma once

#include <QStackedWidget>
#include <QTimer>

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/lineage/run_asking.h"
#include "gui/views/runs/run_arrangement.h"
#include "gui/views/runs/run_delegate.h"
#include "gui/views/runs/run_drawer.h"
#include "gui/views/runs/run_export.h"
#include "gui/views/runs/run_import.h"
#include "gui/views/runs/run_marks.h"
#include "gui/views/runs/run_trash.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class RunsPage : public Page {
  Q_OBJECT

 public:
  explicit RunsPage(Session& session, QWidget* parent = nullptr);

  QString subtitle() const override;
  QList<QAction*> pageActions() override {
    return QList<QAction*>{train_, import_, compare_, resume_, fork_, reproduce_, stop_, job_} +
           QList<QAction*>{exports_->runsAction(), exports_->fileAction(),
                           exports_->weightsAction(), untick_} +
           marks_->actions() + QList<QAction*>{discard_, restore_, remove_};
  }
  QWidget* headerWidget() override { return where_; }
  QList<KeyTable> keys() const override { return {RunsTable::keys()}; }
  void activated() override;
  void showRun(qint64 run) override;
  void showRuns(const QList<qint64>& runs) override;
  void keepLayout() override { arrangement_->keep(); }
  void resetLayout() override { arrangement_->reset(); }
  QJsonObject keptState() const override;
  void restoreState(const QJsonObject& state) override;
  bool isReady() const override;

  /// Ids of the selected runs, in the order of the table; those that the filter hides come last.
  /// While the menu of a run is open that is not among them: that run.
  QList<qint64> selectedRuns() const { return menuOf_ ? QList{*menuOf_} : selection_->runs(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeActions();
  QWidget* makeTable();
  struct Rows {
    std::vector<RunRow> shown;
    qint64 trashed = 0;
    std::optional<std::string> damage;  // of the store: rows are left out
  };
  void setRows(Rows rows);
  void showError(const QString& error);
  void showPlace(RunPlace place);
  void tickAll(bool ticked);
  void showNoMatch();
  void applyFilter(const RunFilter& filter);
  void selectionChanged();
  void describeActions();
  /// For the selected runs if `run` is one of them, else for that run alone; the selection stays.
  void showMenu(const QPoint& globalPosition, qint64 run);
  void stopRuns();
  void showJob();
  void confirmStop(const storage::RunDetail& run);
  bool stopNow(const storage::RunDetail& run);
  void discardRuns();
  QList<qint64> parentsFirst(QList<qint64> runs) const;
  QList<NamedRun> named(const QList<qint64>& runs) const;
  void closeDrawer();
  void restoreRows();
  void say(const QString& text, Tone tone) { Q_EMIT session().message(text, tone); }

  Job reading_;
  RunAsking* asking_ = nullptr;
  Job stopping_;
  Job showing_;  // a run's job
  RunsModel model_;
  RunLines lines_{model_};
  FilterBar* filter_;
  Segment* where_;  // a RunPlace each
  RunsTable* table_;
  RunSelection* selection_;
  RunHeader* header_;
  RunArrangement* arrangement_;
  RunMarks* marks_;
  RunExport* exports_;
  RunTrash* trash_;
  RunImport* importing_;
  RunDelegate* delegate_;
  RunDrawer* drawer_;
  QStackedWidget* stack_;
  EmptyState* empty_;
  EmptyState* nothingArchived_;
  EmptyState* nothingTrashed_;
  EmptyState* unreadable_;
  EmptyState* noMatch_;  // over the table
  RunPlace place_ = RunPlace::list;
  std::optional<Rows> late_;  // read while a cell was edited
  bool drawerClosed_ = false;
  QList<qint64> wanted_;  // to be selected once their rows are there
  std::optional<qint64> menuOf_;
  QJsonObject restored_;  // still to be put in use; empty: nothing is
  QTimer restoring_;
  QAction* train_;
  QAction* import_;
  QAction* compare_;
  QAction* untick_;
  QAction* stop_;
  QAction* job_;
  QAction* resume_;
  QAction* fork_;
  QAction* reproduce_;
  QAction* discard_;
  QAction* restore_;
  QAction* remove_;
};

}  // namespace heddle::gui
