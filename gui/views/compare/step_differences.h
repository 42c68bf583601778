// Where two steps differ, node by node: a run's prediction and its measurement, or any two of what
// the compared runs have. Sides to pick, how each step was spent, the largest surprises, and the
// table whose rows add up. GUI thread only.
#pragma once

#include <QComboBox>
#include <QGridLayout>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "gui/models/worker.h"
#include "gui/views/compare/step_rows.h"
#include "gui/widgets/card.h"
#include "gui/widgets/figure_table.h"
#include "gui/widgets/segment.h"
#include "workbench/run_steps.h"

namespace heddle::gui {

class StepDifferences : public Card {
  Q_OBJECT

 public:
  /// One of the runs' steps.
  struct Choice {
    storage::RunId run = 0;
    workbench::Kind kind = workbench::Kind::measured;
    bool operator==(const Choice&) const = default;
  };
  /// The row that was clicked: which spans it is of.
  struct Chosen {
    std::array<Choice, 2> sides;
    workbench::Grouping grouping;
    std::string row;
    std::shared_ptr<const workbench::RowNames> names;
    bool has(const Choice& side, const telemetry::Span& span) const;
  };

  explicit StepDifferences(Worker& worker, QWidget* parent = nullptr);

  /// The steps to pick from. The user's pick stays if it still exists; else another run's step is
  /// compared with the baseline's. Hides with fewer than two.
  void setSteps(std::vector<std::shared_ptr<const workbench::RunSteps>> runs, int64_t rank,
                storage::RunId baseline);
  /// The run's prediction against what was measured, where it has both.
  void pickPrediction(storage::RunId run);
  bool isReady() const { return !aligning_.running(); }
  const std::optional<Chosen>& chosen() const { return chosen_; }

 Q_SIGNALS:
  void chosenChanged();

 private:
  struct Answer {
    workbench::Pair pair;  // without its spans
    workbench::Alignment alignment;
    std::vector<workbench::Surprise> surprises;
  };

  QWidget* makeHead();
  void pickUsual(storage::RunId baseline);
  std::optional<Choice> picked(const QComboBox* box) const;
  const workbench::RunSteps* stepsOf(storage::RunId run) const;
  QString headOf(const Choice& choice) const;
  void align();
  void take(Answer answer);
  void display();
  void showSpent();
  void showSurprises();
  void fitColumns();
  void choose(int row);
  void goTo(int surprise);
  void resizeEvent(QResizeEvent* event) override;

  Job aligning_;
  std::vector<std::shared_ptr<const workbench::RunSteps>> runs_;
  std::vector<Choice> choices_;
  int64_t rank_ = 0;
  bool picked_ = false;  // by the user
  std::optional<Answer> answer_;
  std::optional<Chosen> chosen_;
  StepRows rows_;
  QComboBox* left_;
  QComboBox* right_;
  Segment* grouping_;
  QGridLayout* spent_;
  QLabel* surprises_;
  FigureTable* table_;
};

}  // namespace heddle::gui
