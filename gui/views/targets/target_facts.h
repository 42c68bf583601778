// A target's facts besides its probe: hosts, folder, keys; editing and removing it.
#pragma once

#include <QFrame>
#include <QGridLayout>

#include "gui/views/targets/target_list_model.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {

class TargetFacts : public QFrame {
  Q_OBJECT

 public:
  explicit TargetFacts(QWidget* parent = nullptr);
  void display(const TargetEntry& entry);

 Q_SIGNALS:
  void editRequested();
  void removeRequested();

 private:
  void add(const QString& name, const QString& value);
  void addJob(const remote::JobRequest& request);

  QLabel* title_;
  QGridLayout* rows_;
  int used_ = 0;  // of its rows: it never has fewer than it once had
  QPushButton* edit_;
  QPushButton* remove_;
};

}  // namespace heddle::gui
