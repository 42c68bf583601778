// A cluster's nodes as boxes: how much of each jobs have. Arrow keys move; a tooltip tells more.
#pragma once

#include <QListView>
#include <QStandardItemModel>
#include <vector>

#include "remote/slurm_nodes.h"

namespace heddle::gui {

class NodeGrid : public QListView {
  Q_OBJECT

 public:
  explicit NodeGrid(QWidget* parent = nullptr);
  void setNodes(const std::vector<remote::ClusterNode>& nodes);

  /// A state's word and colour: "idle", "drained or reserved".
  static QString wordOf(remote::ClusterNode::Use use);
  static QColor colorOf(remote::ClusterNode::Use use);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitHeight();

  QStandardItemModel model_;
};

}  // namespace heddle::gui
