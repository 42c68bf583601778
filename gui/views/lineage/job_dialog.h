// The job of a run that waits in a batch system's queue: holds it, releases it, changes it.
#pragma once

#include <QLineEdit>
#include <QSpinBox>

#include "gui/session.h"
#include "gui/widgets/dialog.h"
#include "workbench/backend.h"

namespace heddle::gui {

class JobDialog : public Dialog {
  Q_OBJECT

 public:
  JobDialog(Session& session, const storage::RunDetail& run, QWidget* parent);

 private:
  void makeFields();
  /// `done`: what a message calls it once Slurm has done it.
  void ask(const workbench::JobChange& change, const QString& done);
  workbench::JobChange changes() const;
  void showChanges();
  void say(const QString& text, Tone tone);

  Session& session_;
  storage::RunDetail run_;
  QString job_;  // "job 12"
  QLabel* words_;
  QLabel* outcome_;
  QLineEdit* time_;
  QLineEdit* partition_;
  QLineEdit* qos_;
  QSpinBox* nice_;
  QList<QPushButton*> buttons_;
  QPushButton* change_;
  Job asking_;
};

}  // namespace heddle::gui
