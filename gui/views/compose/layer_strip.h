// All layers as cells, coloured by what backward computes again: chosen by click, shift-click,
// dragging over them and the arrow keys.
#pragma once

#include <QWidget>

#include "engine/recipe/recipe.h"

namespace heddle::gui {

/// A run of outer modules (see bucket_list.h), from where it was begun.
struct ModuleRange {
  int anchor = -1;
  int end = -1;
  bool isEmpty() const { return anchor < 0; }
  int first() const { return anchor < end ? anchor : end; }
  int last() const { return anchor < end ? end : anchor; }
  bool operator==(const ModuleRange&) const = default;
};

QColor colorOf(recipe::RecomputeMode mode);

class LayerStrip : public QWidget {
  Q_OBJECT

 public:
  explicit LayerStrip(QWidget* parent = nullptr);

  void setRecipe(const recipe::Recipe& recipe);
  void setRange(const ModuleRange& range);
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {300, heightForWidth(300)}; }
  QSize minimumSizeHint() const override { return {120, heightForWidth(width())}; }
  QRectF cellRect(int layer) const;

 Q_SIGNALS:
  void rangeChosen(const ModuleRange& range);
  void menuRequested(const QPoint& at);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  int columns(int width) const;
  int layers() const { return static_cast<int>(modes_.size()); }
  /// The outer module of the layer at a place; of the nearest one.
  int moduleAt(const QPointF& place) const;
  void choose(const ModuleRange& range);

  std::vector<recipe::RecomputeMode> modes_;
  ModuleRange range_;
};

}  // namespace heddle::gui
