// One rank's step in small: the lanes of both streams, without names and axis.
#pragma once

#include <QWidget>
#include <memory>

#include "gui/timeline/timeline_data.h"

namespace heddle::gui {

class TimelineStrip : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineStrip(QWidget* parent = nullptr);

  /// None: the lanes are empty.
  void setTimeline(std::shared_ptr<const Timeline> timeline);
  const std::shared_ptr<const Timeline>& timeline() const { return timeline_; }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  std::shared_ptr<const Timeline> timeline_;
};

}  // namespace heddle::gui
