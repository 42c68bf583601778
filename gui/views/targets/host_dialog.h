// Asks for a target, a new one or another version of one that is there: a name, its hosts, how
// they are reached, and whether they are the login node of a Slurm cluster.
#pragma once

#include <QCheckBox>
#include <QLineEdit>
#include <QStringList>
#include <optional>

#include "gui/views/targets/slurm_fields.h"
#include "gui/widgets/dialog.h"
#include "remote/target.h"

namespace heddle::gui {

/// The fields' texts, as typed.
struct HostForm {
  QString hosts;  // several: by commas
  QString name;
  QString jump;
  QString key;
  QString root;
  bool publicAddresses = false;  // remote::Target's
  std::optional<remote::Slurm> slurm;
  QString dataRoot = {};
  QString prelude = {};
  QString container = {};
};

HostForm formOf(const remote::Host& offered);
HostForm formOf(const remote::Target& target);

class HostDialog : public Dialog {
  Q_OBJECT

 public:
  /// `taken`: names that are targets already.
  HostDialog(const QStringList& taken, QWidget* parent);
  /// From now on it is about this target, whose keys stay for hosts that stay.
  void edit(const remote::Target& target);
  void fill(const HostForm& form);
  HostForm form() const;
  /// The entered target; valid once accepted.
  const remote::Target& target() const { return target_; }

 private:
  void check();
  /// Shows what belongs to the kind of target.
  void showKind();

  QStringList taken_;
  QLineEdit* name_;
  QLineEdit* hosts_;
  QLineEdit* jump_;
  QLineEdit* key_;
  QLineEdit* root_;
  QLineEdit* dataRoot_;
  QLineEdit* prelude_;
  QLineEdit* container_;
  QCheckBox* public_;
  QLabel* publicMeaning_;
  QCheckBox* onSlurm_;
  SlurmFields* slurm_;
  QLabel* fault_;
  QLabel* notes_;  // what of the SSH config Heddle does not follow
  QPushButton* connect_;
  std::optional<remote::Target> edited_;
  remote::Target target_;
};

}  // namespace heddle::gui
