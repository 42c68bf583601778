// The device mesh: one cell a rank, coloured by the group of ranks that hold the shards of
// the same parameters between them.
#pragma once

#include <QWidget>

#include "engine/recipe/mesh.h"

namespace heddle::gui {

class MeshView : public QWidget {
  Q_OBJECT

 public:
  explicit MeshView(QWidget* parent = nullptr);

  /// `valid` false: the degrees do not multiply to the ranks; cells are then plain.
  void setMesh(const recipe::Mesh& mesh, qint64 ranks, bool valid);
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

  recipe::Mesh mesh_;
  qint64 ranks_ = 1;
  bool valid_ = true;
};

}  // namespace heddle::gui
