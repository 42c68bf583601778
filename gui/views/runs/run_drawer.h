// The current run's details next to the table.
#pragma once

#include <QFrame>
#include <QGridLayout>
#include <QTimer>
#include <optional>
#include <string>

#include "gui/charts/line_chart.h"
#include "gui/models/run_facts.h"
#include "gui/session.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/stacked_bar.h"

class QPlainTextEdit;

namespace heddle::gui {

class RunDrawer : public QFrame {
  Q_OBJECT

 public:
  static constexpr int kMinWidth = 366, kMaxWidth = 600;

  explicit RunDrawer(Session& session, QWidget* parent = nullptr);
  ~RunDrawer() override;

  /// Reads and shows a run; the same run again: what has changed.
  void showRun(storage::RunId run);
  storage::RunId run() const { return run_; }
  bool isReady() const { return !reading_.running(); }

 Q_SIGNALS:
  void closed();
  /// The button with the run's further actions was pressed.
  void menuRequested(const QPoint& globalPosition);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  QWidget* makeHead();
  void display(RunFacts facts);
  void showSummary();  // says how long ago, too
  void showResults(const RunFacts& facts);
  void showStep(const RunFacts& facts);
  void showNotes(const std::string& notes);
  void saveNotes();

  Session& session_;
  Job reading_;
  storage::RunId run_ = 0;
  RunFacts facts_;
  ElidedLabel* name_;
  QLabel* note_;
  QLabel* cause_;
  QWidget* buttons_;
  LineChart* loss_;
  QLabel* lastLoss_;
  QGridLayout* results_;
  QWidget* step_;
  QLabel* stepTitle_;
  QLabel* stepSeconds_;
  StackedBar* stepBar_;
  QHBoxLayout* stepLegend_;
  QPlainTextEdit* notes_;
  QTimer typing_;                     // runs out when the person pauses
  std::optional<std::string> typed_;  // notes of the run shown that the store may not have yet
};

}  // namespace heddle::gui
