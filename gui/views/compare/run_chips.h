// The few compared runs as chips with their strokes. A click highlights a run, its menu and keys
// are those of run_commands.h. Chips wrap.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/theme/run_colors.h"
#include "gui/views/compare/compare_choices.h"
#include "storage/run.h"

namespace heddle::gui {

class RunChips : public QWidget {
  Q_OBJECT

 public:
  /// `choices` outlives the chips.
  explicit RunChips(CompareChoices& choices, QWidget* parent = nullptr);
  /// `strokes`: as many as runs.
  void setRuns(const std::vector<storage::RunSummary>& runs, const QList<RunStroke>& strokes);
  QSize minimumSizeHint() const override { return {240, height()}; }
  /// The size of all chips in one row.
  QSize sizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void place();

  CompareChoices& choices_;
  QList<QWidget*> chips_;
};

}  // namespace heddle::gui
