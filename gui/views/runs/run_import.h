// Runs made elsewhere, chosen or dropped: files, folders, or folders with many below them.
#pragma once

#include <QObject>
#include <QStringList>

#include "gui/session.h"
#include "workbench/import.h"

namespace heddle::gui {

class RunImport : public QObject {
  Q_OBJECT

 public:
  RunImport(Session& session, QWidget* page);

  /// Lets a person choose files and folders.
  void choose();
  void take(const QStringList& chosen);
  bool isReady() const { return !importing_.running(); }

 Q_SIGNALS:
  /// The runs that have come in.
  void imported(const QList<qint64>& runs);

 private:
  void report(const std::vector<workbench::Imported>& done);

  Session& session_;
  QWidget* page_;
  Job importing_;
};

}  // namespace heddle::gui
