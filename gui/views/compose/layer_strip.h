// All layers as cells, coloured by what backward computes again, a lane to a pipeline stage:
// chosen by click, shift-click, dragging over them and the arrow keys.
#pragma once

#include <QList>
#include <QWidget>

#include "engine/recipe/recipe.h"
#include "gui/views/compose/layer_lanes.h"
#include "gui/widgets/key_table.h"

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

/// The note after a pipeline rank's lane.
struct LaneNote {
  QString text, shortText;
  bool over = false;  // it needs more memory than there is
};

class LayerStrip : public QWidget {
  Q_OBJECT

 public:
  explicit LayerStrip(QWidget* parent = nullptr);
  static KeyTable keys();

  void setRecipe(const recipe::Recipe& recipe);
  void setRange(const ModuleRange& range);
  void setNotes(const QList<LaneNote>& notes);
  QSize sizeHint() const override { return {300, places_.height()}; }
  QSize minimumSizeHint() const override { return {120, places_.height()}; }
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
  int layers() const { return static_cast<int>(modes_.size()); }
  void place();
  void paintLane(QPainter& painter, int lane) const;
  void choose(const ModuleRange& range);

  recipe::Recipe recipe_;
  std::vector<recipe::RecomputeMode> modes_;
  LayerLanes places_;
  QList<LaneNote> notes_;
  ModuleRange range_;
};

}  // namespace heddle::gui
