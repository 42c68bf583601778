// Buckets as bands, in the order in which forward gathers them. Where they are runs of whole
// modules their edges can be dragged.
#pragma once

#include <QWidget>

#include "gui/views/compose/bucket_list.h"

namespace heddle::gui {

class BucketBands : public QWidget {
  Q_OBJECT

 public:
  explicit BucketBands(QWidget* parent = nullptr);

  void setBuckets(const BucketList& list);
  QSize minimumSizeHint() const override { return {190, 0}; }
  QSize sizeHint() const override { return {260, maximumHeight()}; }
  /// The edge between two bands, in the widget's coordinates; for tests.
  QRectF bandRect(int bucket) const;

 Q_SIGNALS:
  /// The first module of each bucket, after an edge was moved, or a bucket split or joined.
  void firstsChanged(const QList<int>& firsts);
  /// The mouse was released: the next move is another edit.
  void moved();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  /// What the rows show: buckets, but for one row that stands for those that have no room.
  struct Rows {
    double height = 0;
    int count = 0;
    int folded = -1;  // the row that stands for `hidden` buckets; -1: none
    int hidden = 0;
  };
  Rows rows() const;
  int bucketOf(int row) const;
  int rowAt(double y) const;
  int edgeAt(double y) const;
  QList<int> firsts() const;
  void moveEdge(int edge, int first);
  void split(int bucket);
  void join(int edge);
  QString words(int bucket) const;
  void paintBand(QPainter& painter, const QRectF& band, int bucket);

  BucketList list_;
  int current_ = -1;  // by keyboard
  int hovered_ = -1;  // edge under the mouse
  int dragged_ = -1;  // edge between bucket and the next
  double pressed_ = 0;
  int pressedFirst_ = 0;
};

}  // namespace heddle::gui
