// Runs made elsewhere, chosen or dropped: files, folders, or folders with many below them.
#pragma once

#include <QObject>
#include <QStringList>
#include <optional>
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

  /// Lets a person choose files and folders; of one store that has several runs, which of them.
  void choose();
  void take(const QStringList& chosen);
  /// Lets a person choose runs of another store, and compares them with these.
  void compare(const QList<qint64>& with);
  bool isReady() const { return !importing_.running() && !looking_.running(); }

 Q_SIGNALS:
  /// The runs that have come in.
  void imported(const QList<qint64>& runs);

 private:
  class Teller;

  void say(const QString& text, Tone tone);
  /// `with`: the runs to compare those that are taken with; none: they are not compared.
  void look(const QString& store, const std::optional<QList<qint64>>& with);
  void take(const QStringList& chosen, const std::optional<QList<qint64>>& with);
  void compareAll(const std::vector<workbench::Imported>& done, QList<qint64> with);
  void report(const std::vector<workbench::Imported>& done);

  Session& session_;
  QWidget* page_;
  Job importing_, looking_;
  std::stop_source stop_;
};

}  // namespace heddle::gui
