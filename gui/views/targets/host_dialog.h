// Asks for a target, a new one or another version of one that is there: a name, its hosts, how
// they are reached, and whether a batch system runs jobs there.
#pragma once

#include <QCheckBox>
#include <QLineEdit>
#include <QStringList>
#include <optional>
#include <vector>

#include "gui/views/targets/job_fields.h"
#include "gui/widgets/dialog.h"
#include "remote/target.h"

class QGridLayout;

namespace heddle::gui {

/// The fields' texts, as typed.
struct HostForm {
  QString hosts;  // several: by commas
  QString name;
  QString jump;
  QString key;
  QString root;
  bool publicAddresses = false;  // remote::Target's
  std::optional<remote::JobRequest> job;
  QString dataRoot = {};
  QString prelude = {};
  QString container = {};
  QString spares = {};  // as hosts
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
  /// A batch system's mark, and its fields, which are shown while the mark is set.
  struct System {
    const remote::BatchSystem& system;
    QCheckBox* mark;
    JobFields* fields;
  };

  void check();
  void addSystem(const remote::BatchSystem& system, QGridLayout* grid, int row);
  /// The marked one; nothing: runs are no jobs.
  const System* marked() const;
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
  QLineEdit* spares_;
  QCheckBox* public_;
  QLabel* publicMeaning_;
  std::vector<System> systems_;
  QLabel* fault_;
  QLabel* notes_;  // what of the SSH config Heddle does not follow
  QPushButton* connect_;
  std::optional<remote::Target> edited_;
  remote::Target target_;
};

}  // namespace heddle::gui
