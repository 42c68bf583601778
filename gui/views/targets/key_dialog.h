// Shows a host's key to a person: an unknown one can be saved after a comparison, a changed
// or revoked one is explained and cannot be accepted here.
#pragma once

#include <QLineEdit>

#include "gui/widgets/dialog.h"
#include "remote/connect.h"

namespace heddle::gui {

/// Unknown key: the fingerprint, a field to paste the admin's for comparison, "Save key" or
/// "Cancel". Enter in the field saves a key that was found to be the same, and else cancels.
class UnknownKeyDialog : public Dialog {
  Q_OBJECT

 public:
  UnknownKeyDialog(const remote::ConnectError& error, QWidget* parent);

 private:
  void compare();

  QString fingerprint_;
  QLineEdit* pasted_;
  QLabel* verdict_;
  QPushButton* cancel_;
  QPushButton* save_;
};

/// A key that may not be accepted: what it may mean and what to do; one button that closes.
class RefusedKeyDialog : public Dialog {
  Q_OBJECT

 public:
  RefusedKeyDialog(const remote::ConnectError& error, QWidget* parent);
};

}  // namespace heddle::gui
