// Asks before runs are deleted for good, and says exactly what goes: rows of the store, run
// directories with their checkpoints, on which hosts, how much; and what stays.
#pragma once

#include <QList>
#include <QScrollArea>
#include <QString>
#include <vector>

#include "gui/session.h"
#include "gui/widgets/dialog.h"
#include "workbench/removal.h"

namespace heddle::gui {

/// A run and its name.
struct NamedRun {
  qint64 id = 0;
  QString name;
};

class RemovalDialog : public Dialog {
  Q_OBJECT

 public:
  RemovalDialog(Session& session, QList<NamedRun> runs, QWidget* parent);

  /// The runs that can be deleted: those whose hosts could be asked.
  const QList<qint64>& runs() const { return removable_; }
  bool isReady() const { return !asking_.running(); }

 private:
  using Found = std::vector<Result<workbench::Removal>>;

  void display(const Found& found);
  bool eventFilter(QObject* watched, QEvent* event) override;

  Job asking_;
  QList<NamedRun> runs_;
  QList<qint64> removable_;
  QLabel* summary_;
  QScrollArea* scroll_;
  QVBoxLayout* list_;
  QPushButton* go_;
};

}  // namespace heddle::gui
