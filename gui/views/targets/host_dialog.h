// Asks for a target: a name, its hosts, and how they are reached.
#pragma once

#include <QCheckBox>
#include <QLineEdit>
#include <QStringList>

#include "gui/widgets/dialog.h"
#include "remote/target.h"

namespace heddle::gui {

class HostDialog : public Dialog {
  Q_OBJECT

 public:
  /// `taken`: names that are targets already.
  HostDialog(const QStringList& taken, QWidget* parent);
  /// Fills the fields from a host of ~/.ssh/config.
  void offer(const remote::Host& host);
  /// What was entered; valid once accepted.
  const remote::Target& target() const { return target_; }

 private:
  void check();

  QStringList taken_;
  QLineEdit* name_;
  QLineEdit* hosts_;
  QLineEdit* jump_;
  QLineEdit* key_;
  QLineEdit* root_;
  QLabel* fault_;
  QPushButton* connect_;
  remote::Target target_;
};

}  // namespace heddle::gui
