// A line under a timeline that names its longest exposed transfers where they are. GUI thread only.
#pragma once

#include <QWidget>
#include <memory>
#include <vector>

#include "gui/timeline/time_axis.h"
#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

class ExposedNotes : public QWidget {
  Q_OBJECT

 public:
  explicit ExposedNotes(QWidget* parent = nullptr);

  /// May be null.
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  void setAxis(const TimeAxis& axis);
  QSize sizeHint() const override { return {800, 18}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::shared_ptr<const Timeline> timeline_;
  std::vector<Piece> longest_;  // exposed ones of its communication, the longest first
  TimeAxis axis_;
};

}  // namespace heddle::gui
