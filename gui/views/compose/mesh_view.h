// The device mesh: one cell a rank, nodes as rows or as blocks of eight, coloured by pipeline stage
// or by the group that holds the shards of the same parameters. The groups of the rank under the
// mouse are lit. Where there are too many ranks to draw apart a cell means several.
#pragma once

#include <QWidget>

#include "engine/recipe/mesh.h"

namespace heddle::gui {

class MeshView : public QWidget {
  Q_OBJECT

 public:
  explicit MeshView(QWidget* parent = nullptr);

  /// `valid` false: the degrees do not multiply to the ranks; cells are then plain.
  void setMesh(const recipe::Mesh& mesh, qint64 ranks, qint64 ranksPerNode, bool valid);
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {304, heightForWidth(304)}; }
  /// A rank's cell, in whole pixels.
  QRect cellRect(qint64 rank) const;
  /// Ranks that differ along these have different colours.
  recipe::Dims colored() const;
  /// The rank whose groups are lit; -1: none.
  qint64 hovered() const { return hovered_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The places of cells: in blocks of a node, all sizes in whole pixels.
  struct Grid {
    qint64 perCell = 1;              // ranks
    int columns = 1, rows = 1;       // cells of a block
    int wide = 1, tall = 1;          // of a cell
    int acrossGap = 2, downGap = 2;  // between blocks
    int blocks = 1;                  // in a row
    int left = 0;                    // room for the names of nodes
    int height = 0;                  // of all of it
  };
  Grid gridFor(int width) const;
  QRect cellRect(const Grid& grid, qint64 cell) const;
  qint64 cells(const Grid& grid) const { return (ranks_ + grid.perCell - 1) / grid.perCell; }
  qint64 rankAt(const QPoint& place) const;
  /// The dimension along which two ranks are neighbours; 0: they share no group.
  recipe::Dims groupOf(qint64 rank) const;
  void paintLegend(QPainter& painter) const;

  recipe::Mesh mesh_;
  qint64 ranks_ = 1, perNode_ = 8;
  bool valid_ = true;
  qint64 hovered_ = -1;
};

}  // namespace heddle::gui
