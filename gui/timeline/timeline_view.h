// A timeline with everything around it: its tools, for the head of a card, and the statistics of a
// selection or the critical path under it, or beside it where it is wide and low. GUI thread only.
#pragma once

#include <QSplitter>
#include <QStackedWidget>
#include <memory>

#include "gui/models/worker.h"
#include "gui/timeline/critical_path_panel.h"
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

 Q_SIGNALS:
  /// The outcome of an export, in words.
  void saved(const QString& words, bool good);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  void show(QWidget* panel);
  void close();
  void savePicture();
  void saveTrace();
  void report(const Result<>& saved, const QString& path);
  void showMenu(const QPoint& globalPosition, std::optional<size_t> row);

  TimelineWidget* timeline_;
  TimelineTools* tools_;
  QStackedWidget* details_;
  StatisticsPanel* statistics_;
  CriticalPathPanel* criticalPath_;
  std::unique_ptr<Worker> writer_;  // of traces; made when the first one is
  std::unique_ptr<Job> writing_;
};

}  // namespace heddle::gui
