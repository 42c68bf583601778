// Runs: every run of the store in a table; filter, sort, choose some to compare.
#pragma once

#include <QStackedWidget>
#include <QTableView>
#include <QTimer>

#include "gui/page.h"
#include "gui/session.h"
#include "gui/views/runs/run_delegate.h"
#include "gui/views/runs/run_drawer.h"
#include "gui/views/runs/runs_model.h"
#include "gui/widgets/empty_state.h"
#include "gui/widgets/search_field.h"

namespace heddle::gui {

class RunsPage : public Page {
  Q_OBJECT

 public:
  explicit RunsPage(Session& session, QWidget* parent = nullptr);

  QString name() const override { return QStringLiteral("runs"); }
  QString title() const override { return tr("Runs"); }
  QString subtitle() const override;
  QList<QAction*> pageActions() override {
    return {train_, import_, compare_, resume_, fork_, stop_, export_, weights_, remove_};
  }
  void activated() override;
  void showRun(qint64 run) override;
  void showRuns(const QList<qint64>& runs) override;
  bool isReady() const override;

  /// Ids of the selected runs, in the order of the table.
  QList<qint64> selectedRuns() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void makeActions();
  QWidget* makeTable();
  void setRows(std::vector<RunRow> rows);
  void fitColumns();
  void applyFilter();
  void selectionChanged();
  void showMenu(const QPoint& globalPosition);
  void importRun();
  void stopRuns();
  void confirmStop(const storage::RunDetail& run);
  void exportRuns();
  void exportWeights();
  void removeRuns();
  void closeDrawer();
  void say(const QString& text, Tone tone) { Q_EMIT session().message(text, tone); }

  Job reading_;
  Job columns_;
  // One each: a newer task of a job hides what became of the one before.
  Job importing_;
  Job stopping_;
  Job exporting_;
  Job converting_;
  Job removing_;
  RunsModel model_;
  RunsProxy proxy_{model_};
  SearchField* filter_;
  QTimer typing_;
  QLabel* filterNote_;
  QTableView* table_;
  RunDelegate* delegate_;
  RunDrawer* drawer_;
  QStackedWidget* stack_;
  bool drawerClosed_ = false;
  QList<qint64> wanted_;  // to be selected once their rows are there
  QAction* train_;
  QAction* import_;
  QAction* compare_;
  QAction* stop_;
  QAction* export_;
  QAction* resume_;
  QAction* fork_;
  QAction* weights_;
  QAction* remove_;
};

}  // namespace heddle::gui
