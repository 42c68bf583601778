// The step of a layout that a search has found, in small: its parts as a bar, and the timeline of
// the rank that needs most memory, for which it is planned again.
#pragma once

#include <QLabel>
#include <QWidget>
#include <optional>

#include "gui/models/layout_search.h"
#include "gui/models/plan_client.h"
#include "gui/timeline/timeline_strip.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {

class FoundStep : public QWidget {
  Q_OBJECT

 public:
  explicit FoundStep(PlanClient& client, QWidget* parent = nullptr);

  /// Its bar.
  void show(const plan::Found& found);
  /// Its timeline, as soon as it is planned. `question`: the search that found it.
  void plan(const plan::SearchQuestion& question);

 private:
  void take(const QString& key, const Prediction& prediction);

  PlanClient& client_;
  std::optional<plan::Found> shown_;
  bool planned_ = false;  // that one, or asked for
  StackedBar* parts_;
  TimelineStrip* timeline_;
  QLabel* whose_;
};

}  // namespace heddle::gui
