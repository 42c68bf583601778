// The timelines of one profiled step, a row a rank, under it what was predicted, or one of the two
// alone: previous and next step, straggler, statistics of the selection. GUI thread only.
#pragma once

#include <vector>

#include "engine/recipe/mesh.h"
#include "gui/timeline/timeline_legend.h"
#include "gui/timeline/timeline_view.h"
#include "gui/views/live/live_update.h"
#include "gui/views/live/step_points.h"
#include "gui/widgets/card.h"
#include "gui/widgets/segment.h"

namespace heddle::gui {

class StepCard : public Card {
  Q_OBJECT

 public:
  explicit StepCard(QWidget* parent = nullptr);

  void clear();
  /// Focuses the timeline. No focus proxy: Tab would skip the tools above it.
  void takeFocus() { timeline_->setFocus(); }
  /// `host` of each rank may be empty.
  void setTimelines(const StepTimelines& step);
  void setProfiled(std::vector<int64_t> steps);
  /// The ranks' places, shown next to each when they differ in more than one dimension.
  void setMesh(const recipe::Mesh& mesh) { mesh_ = mesh; }
  /// The run is out of contact: the slowest rank of its last step may have caught up.
  void setStale(bool stale);
  /// Remembers which rows and lanes are shown.
  void keepLanes() { view_->keepLanesAs(QStringLiteral("live/lanes")); }
  void resetLanes() { view_->timeline()->setLanes({}); }
  void setEmptyText(const QString& text) { timeline_->setEmptyText(text); }

  int64_t step() const { return shown_.step; }
  /// Compute of each rank in the step shown, in seconds.
  const std::vector<double>& computeSeconds() const { return compute_; }
  const std::vector<int32_t>& ranks() const { return shown_.ranks; }
  /// The pipeline stage of each of these ranks.
  std::vector<int> stagesOf(const std::vector<int32_t>& ranks) const;
  TimelineWidget* timeline() const { return timeline_; }

 Q_SIGNALS:
  /// The outcome of an export of the timeline.
  void saved(const QString& words, bool good);
  /// The differences from the prediction, node by node.
  void differencesWanted();
  /// 0: the newest, and on with it.
  void stepWanted(int64_t step);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void go(int direction);
  bool isWide() const;
  void fold();
  QString placeOf(int64_t rank) const;
  enum class Shows { both, measured, predicted };
  Shows shows() const;
  void showRows();
  TimelineRow measuredRow(size_t i, const std::optional<Straggler>& slow) const;
  TimelineRow predictedRow(const PredictedTimeline& predicted) const;
  void showHead();
  void showStatistics();
  void showSurprises(const std::vector<RankSurprise>& surprises);

  TimelineView* view_;
  TimelineWidget* timeline_;  // of the view
  Chip* straggler_;
  TimelineLegend* legend_;
  QToolButton* previous_;
  QToolButton* next_;
  QWidget* surprising_;
  Segment* shows_;
  ElidedLabel* surprises_;
  QLabel* statistics_;
  QList<QLabel*> hints_;
  QLabel* keys_;  // the hints in one word
  recipe::Mesh mesh_;
  std::vector<int64_t> profiled_;
  StepTimelines shown_;
  std::vector<size_t> counted_;  // rows that the statistics are of
  std::vector<double> compute_;
  bool stale_ = false;
};

}  // namespace heddle::gui
