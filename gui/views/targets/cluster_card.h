// A cluster as the last probe saw it: its nodes, how much of them is free, and one's own jobs.
#pragma once

#include <optional>

#include "gui/views/targets/node_grid.h"
#include "gui/widgets/card.h"
#include "workbench/cluster_now.h"

namespace heddle::gui {

class ClusterCard : public Card {
  Q_OBJECT

 public:
  explicit ClusterCard(QWidget* parent = nullptr);
  /// Hidden while there is none.
  void setCluster(const std::optional<workbench::ClusterNow>& cluster);

 private:
  void showLegend(const std::vector<remote::ClusterNode>& nodes);
  void showJobs(const std::vector<workbench::ClusterJob>& jobs);

  NodeGrid* nodes_;
  QHBoxLayout* legend_;
  QLabel* jobsTitle_;
  QVBoxLayout* jobs_;
};

}  // namespace heddle::gui
