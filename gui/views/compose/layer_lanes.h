// Places each outer module of a model in the strip of layers: all layers in rows, or, with a
// pipeline, a lane for each rank of it, with the embedding and the output. No widgets.
#pragma once

#include <QRectF>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::gui {

class LayerLanes {
 public:
  static constexpr int kName = 60;  // the name before a lane: "stage 12"

  LayerLanes() = default;
  /// `recipe` is resolved; where its stages do not fit its layers there are no lanes. `note`: what
  /// is kept free after a lane.
  LayerLanes(const recipe::Recipe& recipe, int width, int note);

  /// One for each rank of the pipeline; 0: no pipeline.
  int lanes() const { return lanes_; }
  int height() const { return height_; }
  /// An outer module's; null: it has none here.
  QRectF cell(int module) const { return cells_.empty() ? QRectF() : cells_[size_t(module)]; }
  int modules() const { return static_cast<int>(cells_.size()); }
  QRectF lane(int index) const;
  /// The module at a place, or the nearest one; −1: there are none.
  int at(const QPointF& place) const;

 private:
  void inRows(int layers, int width);
  void inLanes(const std::vector<int64_t>& stages, int width, int note);

  std::vector<QRectF> cells_;  // by outer module
  int lanes_ = 0, height_ = 0, width_ = 0;
};

}  // namespace heddle::gui
