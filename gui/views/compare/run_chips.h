// The compared runs as chips with their strokes, and the button that adds others. Chips wrap; more
// than three rows of them scroll, and the button stays in sight.
#pragma once

#include <QPushButton>
#include <QScrollArea>
#include <QWidget>
#include <vector>

#include "gui/theme/run_colors.h"
#include "storage/run.h"

namespace heddle::gui {

class RunChips : public QWidget {
  Q_OBJECT

 public:
  explicit RunChips(QWidget* parent = nullptr);
  /// `strokes`: as many as runs.
  void setRuns(const std::vector<storage::RunSummary>& runs, const QList<RunStroke>& strokes);
  QPushButton* addButton() const { return add_; }
  QSize minimumSizeHint() const override { return {240, height()}; }

 Q_SIGNALS:
  void removed(qint64 run);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// Moves chips (and the button, `withButton`) into rows of that width; the height they take.
  int flow(int width, bool withButton);
  void place();

  QScrollArea* area_;
  QWidget* inner_;
  QList<QWidget*> chips_;
  QPushButton* add_;
};

}  // namespace heddle::gui
