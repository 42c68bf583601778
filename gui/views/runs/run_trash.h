// Runs into the trash, back, and out of it for good. A run in the trash is in no other list and in
// no comparison; its rows and run directories stay until it is deleted for good.
#pragma once

#include <QObject>

#include "gui/views/runs/removal_dialog.h"

namespace heddle::gui {

class RunTrash : public QObject {
  Q_OBJECT

 public:
  /// `page` is the parent of dialogs.
  RunTrash(Session& session, QWidget* page);

  /// Ended runs only; offers to undo it.
  void discard(const QList<NamedRun>& runs);
  void restore(const QList<NamedRun>& runs);
  /// Asks first.
  void removeForGood(const QList<NamedRun>& runs);

 Q_SIGNALS:
  void changed();

 private:
  using Change = std::function<Result<>(workbench::Workbench&, qint64 run)>;
  void act(const QList<qint64>& runs, Change change, const QString& done,
           std::function<void()> undo = {});

  Session& session_;
  QWidget* page_;
  Job acting_;
};

}  // namespace heddle::gui
