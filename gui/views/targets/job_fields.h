// The fields of a batch system's jobs, as typed: a part of a target's dialog.
#pragma once

#include <QWidget>
#include <vector>

#include "remote/batch_systems.h"

namespace heddle::gui {

class JobFields : public QWidget {
  Q_OBJECT

 public:
  explicit JobFields(const remote::BatchSystem& system, QWidget* parent = nullptr);
  void fill(const remote::JobRequest& request);
  /// As it is in the fields; whether it is good is remote::check's to say.
  remote::JobRequest request() const;

 Q_SIGNALS:
  void changed();

 private:
  /// A spin box for a number, a line for texts.
  QWidget* widgetOf(const remote::JobField& field);

  const remote::BatchSystem& system_;
  std::vector<QWidget*> widgets_;  // in the order of the system's fields
};

/// A batch system's words in the window's language.
QString translated(const char* words);

}  // namespace heddle::gui
