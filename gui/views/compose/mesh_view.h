// The device mesh: one cell a rank, coloured by the group it belongs to in one dimension.
#pragma once

#include <QWidget>

#include "engine/recipe/recipe.h"

namespace heddle::gui {

/// A rank's place; the mesh runs from pp (outermost) to tp (innermost).
struct MeshPlace {
  qint64 pp = 0, dp_replicate = 0, dp_shard = 0, cp = 0, tp = 0;
};
MeshPlace meshPlace(const recipe::Parallelism& parallelism, qint64 rank);

/// The number of the group of ranks that differ from this one in dp_shard alone: those that hold
/// the shards of the same parameters between them.
qint64 shardGroup(const recipe::Parallelism& parallelism, qint64 rank);

class MeshView : public QWidget {
  Q_OBJECT

 public:
  explicit MeshView(QWidget* parent = nullptr);

  /// `valid` false: the degrees do not multiply to the ranks; cells are then plain.
  void setMesh(const recipe::Parallelism& parallelism, qint64 ranks, bool valid);
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {304, heightForWidth(304)}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  int columns() const;
  double pitch(double width) const;
  double cellHeight(double width) const;

  recipe::Parallelism parallelism_;
  qint64 ranks_ = 1;
  bool valid_ = true;
};

}  // namespace heddle::gui
