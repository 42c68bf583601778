// Asks runs to end. While the connection to a run is lost nobody there can be told: it is asked
// again until somebody is.
#pragma once

#include "gui/session.h"

namespace heddle::gui {

class RunAsking : public QObject {
  Q_OBJECT

 public:
  using Ask = Result<> (*)(const storage::RunDetail&);  // of workbench/control.h

  RunAsking(Session& session, QObject* parent);
  /// `word` is what it is called until it is done: "stopping" (Session::asked). A refusal becomes a
  /// message about the run.
  void ask(const QString& word, const storage::RunDetail& run, Ask how);

 Q_SIGNALS:
  /// It was told, was not reached, or has refused.
  void answered(qint64 run);

 private:
  void tell(const QString& word, const storage::RunDetail& run, Ask how);

  Session& session_;
  Job asking_;
};

/// The subject that tells messages about a run apart.
QString subjectOf(storage::RunId run);

}  // namespace heddle::gui
