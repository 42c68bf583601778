// Predicted memory of the rank that needs most: a bar against the device's limit, a row a category.
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QWidget>
#include <array>

#include "gui/models/prediction.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/stacked_bar.h"

namespace heddle::gui {

class MemoryFigures : public QWidget {
  Q_OBJECT

 public:
  /// `remedy`: shown between the bar and the rows: the fix comes before the details.
  explicit MemoryFigures(QWidget* remedy, QWidget* parent = nullptr);

  /// The rows are compared with `pinned`, which may be null.
  void display(const plan::Document& document, const plan::Document* pinned, bool stale);
  /// Rows are closer together.
  void setCompact(bool compact);

 Q_SIGNALS:
  void whyRequested();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  struct Row {
    Swatch* swatch;
    QLabel *bytes, *share;
  };

  QLabel *total_, *limit_, *room_, *stage_;
  StackedBar* bar_;
  QGridLayout* grid_;
  std::array<Row, plan::kCategories> rows_;
};

}  // namespace heddle::gui
