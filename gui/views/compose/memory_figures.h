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
  /// `remedy`: stands between the bar and the rows, what is to be done about the first before what
  /// the second say in detail.
  explicit MemoryFigures(QWidget* remedy, QWidget* parent = nullptr);

  /// `pinned` may be null: what the rows are held against.
  void display(const plan::Document& document, const plan::Document* pinned, bool stale);
  /// Rows stand closer together.
  void setCompact(bool compact);

 Q_SIGNALS:
  void whyRequested();

 protected:
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
