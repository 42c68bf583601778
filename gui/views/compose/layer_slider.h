// A run of layers as a bar over all of them, with an end to drag at either side.
#pragma once

#include <QWidget>

#include "gui/views/compose/layer_exceptions.h"

namespace heddle::gui {

class LayerSlider : public QWidget {
  Q_OBJECT

 public:
  explicit LayerSlider(QWidget* parent = nullptr);

  void setException(const LayerException& exception, int layers);
  QSize sizeHint() const override { return {200, 18}; }
  QSize minimumSizeHint() const override { return {80, 18}; }
  /// Where the run begins and ends, in pixels.
  QRectF bar() const;

 Q_SIGNALS:
  void pressed();
  void moved(int first, int last);
  void released();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  enum class End { none, first, last };
  void move(int layer);

  LayerException exception_;
  int layers_ = 1;
  End dragged_ = End::none;
};

}  // namespace heddle::gui
