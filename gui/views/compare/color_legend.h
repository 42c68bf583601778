// The values of the key that runs are coloured by, with their strokes; of a scale its stops.
#pragma once

#include <QWidget>

#include "gui/views/compare/run_coloring.h"

namespace heddle::gui {

class ColorLegend : public QWidget {
  Q_OBJECT

 public:
  explicit ColorLegend(QWidget* parent = nullptr);
  /// Hides without entries. `key`: the name before them.
  void setColoring(const QString& key, const RunColoring& coloring);
  QSize sizeHint() const override { return {200, 20}; }
  QSize minimumSizeHint() const override { return {80, 20}; }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  QString key_;
  std::vector<RunColoring::Entry> entries_;
  bool scale_ = false;
};

}  // namespace heddle::gui
