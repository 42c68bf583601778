// Which run a page shows: a combo box of the newest runs with their state.
#pragma once

#include <QComboBox>
#include <vector>

#include "storage/run.h"

namespace heddle::gui {

class RunPicker : public QComboBox {
  Q_OBJECT

 public:
  explicit RunPicker(QWidget* parent = nullptr);
  /// Newest first. The run `shown` is the current one.
  void setRuns(const std::vector<storage::RunSummary>& runs, storage::RunId shown);

 Q_SIGNALS:
  void picked(qint64 run);

 private:
  std::vector<std::pair<storage::RunId, storage::RunState>> offered_;
};

}  // namespace heddle::gui
