// Buckets as bands, in the order in which forward gathers them; as tall as all of them need, to
// scroll in. Where they are runs of whole modules their edges can be dragged.
#pragma once

#include <QMenu>
#include <QWidget>

#include "gui/views/compose/bucket_list.h"

namespace heddle::gui {

class BucketBands : public QWidget {
  Q_OBJECT

 public:
  explicit BucketBands(QWidget* parent = nullptr);

  void setBuckets(const BucketList& list);
  QSize minimumSizeHint() const override { return {180, minimumHeight()}; }
  QSize sizeHint() const override { return {260, maximumHeight()}; }
  /// The edge between two bands, in the widget's coordinates; for tests.
  QRectF bandRect(int bucket) const;

 Q_SIGNALS:
  /// A bucket was clicked.
  void chosen(const heddle::gui::Bucket& bucket);
  /// The mouse is down on an edge; then the modules on both sides of it, and where the pointer is.
  void pressed();
  void dragged(const QString& words, const QPoint& pointer);
  /// The first module of each bucket, after an edge was moved, or a bucket split or joined.
  void firstsChanged(const QList<int>& firsts);
  /// The mouse was released: the next move is another edit.
  void moved();
  /// Buckets of so many layers each are asked for.
  void everyRequested(int layers);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  double bandHeight() const;
  int bucketAt(double y) const;
  int edgeAt(double y) const;
  QList<int> firsts() const;
  void moveEdge(const QList<int>& from, int edge, int first);
  void split(int bucket);
  void join(int edge);
  QString words(int bucket) const;
  void reportDrag();

  BucketList list_;
  int current_ = 0;     // by keyboard
  int hovered_ = -1;    // edge under the mouse
  int dragged_ = -1;    // edge between a bucket and the next, as they were when it was pressed
  int draggedTo_ = -1;  // the module right after it now
  double pressedY_ = 0;
  double pressedGather_ = 0;  // seconds, of the bucket above the edge
  QPoint pointer_;            // on the screen
  QList<int> pressedFirsts_;
};

/// "Every layer", "Every 2 layers" …: a menu of the choices.
void addEveryActions(QMenu& menu, BucketBands& bands);

}  // namespace heddle::gui
