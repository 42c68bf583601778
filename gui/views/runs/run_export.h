// Runs to folders: their records, or the newest checkpoint's weights.
#pragma once

#include <QAction>

#include "gui/session.h"

namespace heddle::gui {

class RunExport : public QObject {
  Q_OBJECT

 public:
  /// `page` is the parent of dialogs.
  RunExport(Session& session, QWidget* page);

  QAction* runsAction() const { return export_; }
  QAction* weightsAction() const { return weights_; }
  /// The actions are about these runs now.
  void describe(const QList<qint64>& runs);
  /// The store has changed: there may be other weights.
  void renew() { weightsAreOld_ = true; }
  bool isReady() const { return !checking_.running(); }

 private:
  void exportRuns();
  void exportWeights();
  void checkWeights();
  void say(const QString& text, Tone tone) { Q_EMIT session_.message(text, tone); }

  Session& session_;
  QWidget* page_;
  // One each: a newer task of a job hides what became of the one before.
  Job exporting_;
  Job converting_;
  Job checking_;
  QAction* export_;
  QAction* weights_;
  QList<qint64> runs_;
  qint64 checked_ = 0;     // the run that weightsReason_ is about
  QString weightsReason_;  // why it has no weights to export; empty: it has
  bool weightsAreOld_ = false;
};

/// An action that cannot be done says why, wherever it is listed.
void allow(QAction* action, const QString& text, const QString& reason);

}  // namespace heddle::gui
