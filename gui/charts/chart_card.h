// A chart on a board: what a person does with it is in its menu, which opens by its button and by
// the menu key. Its head drags it to another place, its lower right corner makes it larger. GUI
// thread only.
#pragma once

#include <QMenu>

#include "gui/charts/metric_chart.h"

class QToolButton;

namespace heddle::gui {

class ChartCard : public MetricChart {
  Q_OBJECT

 public:
  enum class Change { wider, narrower, taller, shorter, earlier, later, remove };
  Q_ENUM(Change)

  ChartCard(Session& session, ChartSpec spec, QWidget* parent = nullptr);

 Q_SIGNALS:
  void changeWanted(heddle::gui::ChartCard::Change change);
  void sizeWanted(const QSize& size);
  /// Dropped there, in the parent's coordinates.
  void placeWanted(const QPoint& at);
  void dragged(const QPoint& at);
  void forAllWanted();

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QMenu* makeMenu();
  void addChanges(QMenu& menu);
  void openMenu(const QPoint& at);
  void openOptions();

  Session& session_;
  QToolButton* more_;
  QWidget* grip_;
  std::optional<QPoint> dragFrom_;
  bool dragging_ = false;
};

}  // namespace heddle::gui
