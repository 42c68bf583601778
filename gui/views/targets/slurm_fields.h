// The job options of a Slurm target, as typed: a part of a target's dialog.
#pragma once

#include <QLineEdit>
#include <QSpinBox>
#include <QWidget>

#include "base/result.h"
#include "remote/target.h"

namespace heddle::gui {

class SlurmFields : public QWidget {
  Q_OBJECT

 public:
  explicit SlurmFields(QWidget* parent = nullptr);
  void fill(const remote::Slurm& slurm);
  /// As it is in the fields; whether it is good is remote::check's to say.
  remote::Slurm slurm() const;

 Q_SIGNALS:
  void changed();

 private:
  QLineEdit* partition_;
  QLineEdit* account_;
  QLineEdit* qos_;
  QLineEdit* time_;
  QSpinBox* nodes_;
  QSpinBox* gpus_;
  QSpinBox* cpus_;
  QLineEdit* options_;
};

}  // namespace heddle::gui
