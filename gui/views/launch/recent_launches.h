// The last launches and what became of them; a failed one with its cause.
#pragma once

#include <QTableWidget>
#include <vector>

#include "gui/models/contact.h"

namespace heddle::gui {

class RecentLaunches : public QTableWidget {
  Q_OBJECT

 public:
  explicit RecentLaunches(QWidget* parent = nullptr);
  /// All runs are of one target: its column goes.
  void showOneTarget() { ofOneTarget_ = true; }
  void setRuns(const std::vector<storage::RunSummary>& runs, Contacts contacts);
  /// Time has passed: "12 min ago".
  void tick();

 Q_SIGNALS:
  void opened(qint64 run);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitColumns();
  void showContact(int row);

  std::vector<storage::RunSummary> runs_;
  Contacts contacts_;
  bool ofOneTarget_ = false;
};

}  // namespace heddle::gui
