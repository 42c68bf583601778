// A run's stroke as a widget of its own, before the run's name.
#pragma once

#include <QPainter>
#include <QWidget>

#include "gui/theme/run_colors.h"

namespace heddle::gui {

class RunSwatch : public QWidget {
 public:
  explicit RunSwatch(RunStroke stroke) : stroke_(std::move(stroke)) { setFixedSize(18, 14); }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    paintRunStroke(painter, rect(), stroke_);
  }

 private:
  RunStroke stroke_;
};

}  // namespace heddle::gui
