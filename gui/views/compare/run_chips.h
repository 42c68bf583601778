// The compared runs as chips with their colour and dash, and the button that adds one.
#pragma once

#include <QHBoxLayout>
#include <QPushButton>
#include <QWidget>
#include <vector>

#include "storage/run.h"

namespace heddle::gui {

class RunChips : public QWidget {
  Q_OBJECT

 public:
  explicit RunChips(QWidget* parent = nullptr);
  void setRuns(const std::vector<storage::RunSummary>& runs);
  QPushButton* addButton() const { return add_; }

 Q_SIGNALS:
  void removed(qint64 run);

 private:
  QHBoxLayout* row_;
  QPushButton* add_;
};

}  // namespace heddle::gui
