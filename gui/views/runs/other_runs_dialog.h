// The runs of another store, of which a person ticks those to copy into this one.
#pragma once

#include <QListView>
#include <QPushButton>
#include <QSet>
#include <vector>

#include "gui/widgets/dialog.h"
#include "gui/widgets/run_chooser.h"

namespace heddle::gui {

class OtherRunsDialog : public Dialog {
  Q_OBJECT

 public:
  /// `runs`: all of the store's. `compares`: none is ticked at first; else all that have ended.
  OtherRunsDialog(const QString& store, const std::vector<storage::RunSummary>& runs, bool compares,
                  QWidget* parent);

 Q_SIGNALS:
  /// "STORE#7", one a run.
  void chosen(const QStringList& paths);

 private:
  void toggle(const QModelIndex& index);
  /// Ticks what is listed, or unticks it where all of it is ticked.
  void toggleListed();
  void count();

  QString store_;
  bool compares_;
  RunChoices model_;
  QSet<qint64> ticked_;
  QListView* list_;
  QPushButton* all_;
  QPushButton* accept_;
};

}  // namespace heddle::gui
