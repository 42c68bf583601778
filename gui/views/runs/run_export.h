// Exports runs to folders: their records, or the newest checkpoint's weights. Saves a run as one
// file, to send.
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
  QAction* fileAction() const { return file_; }
  /// The actions are about these runs now.
  void describe(const QList<qint64>& runs);
  /// Call when the store has changed: the run may have ended or have other weights.
  void renew() { isOld_ = true; }
  bool isReady() const { return !checking_.running(); }

 private:
  void exportRuns();
  void exportWeights();
  void exportFile();
  void checkOne();
  struct Checked {
    QString name;
    QString fileReason;     // why it cannot be saved as one file; empty: it can
    QString weightsReason;  // why it has no weights to export; empty: it has
  };
  void take(const Checked& checked);
  void say(const QString& text, Tone tone) { Q_EMIT session_.message(text, tone); }

  Session& session_;
  QWidget* page_;
  // One each: a newer task of a job hides what became of the one before.
  Job exporting_;
  Job converting_;
  Job packing_;
  Job checking_;
  QAction* export_;
  QAction* weights_;
  QAction* file_;
  QList<qint64> runs_;
  qint64 checkedRun_ = 0;  // the run of `checked_`
  Checked checked_;
  bool isOld_ = false;
};

/// An action that cannot be done says why, wherever it is listed.
void allow(QAction* action, const QString& text, const QString& reason);

}  // namespace heddle::gui
