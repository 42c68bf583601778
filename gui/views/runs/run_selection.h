// The chosen runs. The table's selection is what is seen of them: a run that the filter hides stays
// chosen until something else is chosen in its place. A row that is clicked while none is ticked is
// chosen and not ticked: who then ticks another does not mean it too.
#pragma once

#include <QItemSelectionModel>
#include <QList>
#include <functional>

#include "gui/views/runs/runs_model.h"

namespace heddle::gui {

class RunSelection : public QItemSelectionModel {
  Q_OBJECT

 public:
  RunSelection(RunsModel& model, RunsProxy& proxy, QObject* parent = nullptr);

  /// In the order of the table, then those that the filter hides.
  QList<qint64> runs() const;
  int hidden() const { return static_cast<int>(hidden_.size()); }
  /// The chosen ones were ticked, or are several.
  bool ticks() const { return ticks_; }

  /// Runs `change`, which may show, hide or remove rows: what was chosen and is still a row of the
  /// model stays so.
  void keepOver(const std::function<void()>& change);

  using QItemSelectionModel::select;
  void select(const QItemSelection& selection, SelectionFlags command) override;

 Q_SIGNALS:
  void chosenChanged();

 private:
  QItemSelection stretchesOf(QList<int> rows) const;

  RunsModel& model_;
  RunsProxy& proxy_;
  QList<qint64> hidden_;
  bool keeping_ = false;
  bool ticks_ = false;
};

}  // namespace heddle::gui
