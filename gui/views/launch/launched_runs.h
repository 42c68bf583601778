// The last launches and, where any run waits, the queue next to them.
#pragma once

#include <QWidget>

#include "gui/session.h"
#include "gui/views/launch/launch_data.h"
#include "gui/views/launch/queue_view.h"
#include "gui/views/launch/recent_launches.h"
#include "gui/widgets/card.h"

namespace heddle::gui {

class LaunchedRuns : public QWidget {
  Q_OBJECT

 public:
  explicit LaunchedRuns(Session& session, QWidget* parent = nullptr);
  void setOptions(LaunchOptions options);

 private:
  QWidget* buildRecent();
  QWidget* buildQueue();

  Session& session_;
  RecentLaunches* recent_ = nullptr;
  QLabel* none_ = nullptr;
  Card* queueCard_ = nullptr;
  QueueView* queue_ = nullptr;
};

}  // namespace heddle::gui
