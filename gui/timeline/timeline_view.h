// A timeline with everything around it: its tools, for the head of a card, and the statistics of a
// selection under it, or beside it where it is wide and low. GUI thread only.
#pragma once

#include <QSplitter>

#include "gui/timeline/statistics_panel.h"
#include "gui/timeline/timeline_tools.h"
#include "gui/timeline/timeline_widget.h"

namespace heddle::gui {

class TimelineView : public QSplitter {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);

  TimelineWidget* timeline() const { return timeline_; }
  /// Has no parent until a layout takes it.
  TimelineTools* tools() const { return tools_; }
  /// Takes the choice of rows and lanes from the settings, and keeps it there from now on.
  void keepLanesAs(const QString& key);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  void showMenu(const QPoint& globalPosition, std::optional<size_t> row);

  TimelineWidget* timeline_;
  TimelineTools* tools_;
  StatisticsPanel* statistics_;
};

}  // namespace heddle::gui
