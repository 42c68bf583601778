// Runs made elsewhere, chosen or dropped: files, folders, or folders with many below them.
#pragma once

#include <QObject>
#include <QStringList>
#include <stop_token>

#include "gui/session.h"
#include "workbench/import.h"

namespace heddle::gui {

/// "Importing 3 of 12 …".
QString wordsOf(const workbench::ImportProgress& progress);

class RunImport : public QObject {
  Q_OBJECT

 public:
  RunImport(Session& session, QWidget* page);
  /// Stops the import under way.
  ~RunImport() override;

  /// Lets a person choose files and folders.
  void choose();
  void take(const QStringList& chosen);
  bool isReady() const { return !importing_.running(); }

 Q_SIGNALS:
  /// The runs that have come in.
  void imported(const QList<qint64>& runs);

 private:
  class Teller;

  void say(const QString& text, Tone tone);
  void report(const std::vector<workbench::Imported>& done);

  Session& session_;
  QWidget* page_;
  Job importing_;
  std::stop_source stop_;
};

}  // namespace heddle::gui
