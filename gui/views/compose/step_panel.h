// The step that the recipe would make: the timeline of a rank, or of each that differs, with its
// memory under it.
#pragma once

#include <QComboBox>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>

#include "gui/models/recipe_prediction.h"
#include "gui/timeline/exposed_notes.h"
#include "gui/timeline/memory_curve.h"
#include "gui/timeline/timeline_view.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class StepPanel : public QFrame {
  Q_OBJECT

 public:
  explicit StepPanel(RecipePrediction& prediction, QWidget* parent = nullptr);
  TimelineWidget* timeline() const { return timeline_; }
  TimelineView* view() const { return view_; }
  /// Zooms to the first gather of a bucket, given by the modules in it.
  void showGather(const std::vector<std::string>& modules);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refresh();
  void refreshChoice();
  void refreshRows();
  /// The same rank's step of the pinned prediction, under the one that is shown.
  void addPinned(std::vector<TimelineRow>& rows, qint64 rank) const;
  void shareAxis();
  void placeLegend();
  void showStatistics();

  RecipePrediction& prediction_;
  std::shared_ptr<const Prediction> displayed_, pinned_;  // in the rows
  QHBoxLayout* head_;
  QHBoxLayout* underHead_;
  QLabel* title_;
  ElidedLabel* note_;
  QWidget* legend_;
  QComboBox* rank_;  // data: the rank; −1: all that differ
  TimelineView* view_;
  TimelineWidget* timeline_;  // of the view
  ExposedNotes* notes_;
  MemoryCurve* memory_;
  ElidedLabel* statistics_;
  QList<QLabel*> hints_;
};

}  // namespace heddle::gui
