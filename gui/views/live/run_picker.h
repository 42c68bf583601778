// Which run a page shows: the current one with its state; all runs, found by typing, when opened.
#pragma once

#include <QComboBox>
#include <vector>

#include "gui/models/state_look.h"
#include "gui/widgets/pick_list.h"
#include "storage/run.h"

namespace heddle::gui {

class RunPicker : public QComboBox {
  Q_OBJECT

 public:
  explicit RunPicker(QWidget* parent = nullptr);
  /// All runs, newest first. The run `shown` is the current one.
  void setRuns(std::vector<storage::RunSummary> runs, storage::RunId shown);
  /// How the current run looks, where its state alone does not tell.
  void setLook(const StateLook& look);

  void showPopup() override;
  /// The current run's name as there is room for it: cut in the middle, since the ends of names
  /// tell siblings apart.
  QString shownName() const;
  QSize sizeHint() const override;

 Q_SIGNALS:
  void picked(qint64 run);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int room() const;  // for the name, in pixels

  std::vector<storage::RunSummary> runs_;
  PickList* list_ = nullptr;  // made when it is first opened
};

}  // namespace heddle::gui
