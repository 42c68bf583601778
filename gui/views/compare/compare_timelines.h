// The chosen few runs' steps one above another, and how each was spent. Which step, which rank, and
// at what they are aligned is chosen here. GUI thread only.
#pragma once

#include <QComboBox>

#include "gui/theme/run_colors.h"
#include "gui/timeline/timeline_widget.h"
#include "gui/views/compare/compare_data.h"
#include "gui/views/compare/step_differences.h"
#include "gui/views/compare/step_statistics.h"
#include "gui/views/compare/timeline_alignment.h"
#include "gui/widgets/card.h"

namespace heddle::gui {

class CompareTimelines : public Card {
  Q_OBJECT

 public:
  explicit CompareTimelines(QWidget* parent = nullptr);

  /// `strokes`: as many as runs of the comparison.
  void display(const CompareData& data, const QList<RunStroke>& strokes);
  /// The run from which statistics are differences; 0: they are values.
  void setBaseline(storage::RunId run);
  /// Shows only the chosen row's spans bright; none: all of them.
  void highlight(const std::optional<StepDifferences::Chosen>& chosen);
  void setStatisticsWidth(int width) { statistics_->setFixedWidth(width); }
  /// Forgets which step and rank were chosen.
  void reset();

  int64_t step() const { return step_->currentData().toLongLong(); }  // 0: the newest
  int64_t rank() const { return rank_->currentData().toLongLong(); }
  QPushButton* chooseButton() const { return choose_; }

 Q_SIGNALS:
  /// Another step or rank was chosen: data of it are needed.
  void readNeeded();
  /// The outcome of an export of the timelines.
  void saved(const QString& words, bool good);

 private:
  struct Row {
    StepDifferences::Choice side;
    QString name;
    RunStroke stroke;
  };

  void showControls(const CompareData& data);
  void allowChosenRow(bool allowed);
  void align();
  void showStatistics();
  QString noteOf() const;

  std::vector<Row> drawn_;  // by row of the timelines
  std::optional<StepDifferences::Chosen> chosen_;
  bool plansAlone_ = false;
  int64_t shownStep_ = 0;  // 0: each run's newest
  int64_t shownRank_ = 0;
  storage::RunId baseline_ = 0;
  int without_ = 0;  // chosen runs that have no profiled step
  QPushButton* choose_;
  QComboBox* step_;
  QComboBox* rank_;
  QComboBox* alignedAt_;
  TimelineWidget* timelines_;
  StepStatistics* statistics_;
};

}  // namespace heddle::gui
