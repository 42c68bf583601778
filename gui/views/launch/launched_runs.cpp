#include "gui/views/launch/launched_runs.h"

#include "gui/format.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {

LaunchedRuns::LaunchedRuns(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  QHBoxLayout* row = rowOf(this, {}, 8);
  row->addWidget(buildRecent(), 1);
  row->addWidget(buildQueue(), 1);
  const auto open = [this](qint64 run) {
    Q_EMIT session_.runRequested(QStringLiteral("live"), run);
  };
  connect(recent_, &RecentLaunches::opened, this, open);
  connect(queue_, &QueueView::opened, this, open);
}

QWidget* LaunchedRuns::buildRecent() {
  auto* card = new Card(tr("Recent launches"));
  recent_ = new RecentLaunches;
  card->setBodyMargins(13, 0, 13, 1);  // aligns texts below the title
  none_ = muted(tr("No launches yet. Runs that you launch appear here."));
  none_->setContentsMargins(3, 8, 3, 8);
  card->body()->addWidget(none_, 0, Qt::AlignTop);
  card->body()->addWidget(recent_, 1);
  connect(&session_, &Session::secondPassed, recent_, &RecentLaunches::tick);
  return card;
}

QWidget* LaunchedRuns::buildQueue() {
  queueCard_ = new Card(tr("Queue"));
  queue_ = new QueueView;
  queueCard_->setBodyMargins(6, 0, 6, 6);
  queueCard_->body()->addWidget(queue_, 1);
  for (QToolButton* button : queue_->buttons()) queueCard_->addControl(button);
  queueCard_->hide();
  connect(queue_, &QueueView::reordered, this, [this](const std::vector<storage::RunId>& runs) {
    session_.keep([runs](workbench::Workbench& workbench) {
      return workbench.writer().reorder_queue(runs).get();
    });
  });
  connect(queue_, &QueueView::takenOut, this, [this](qint64 run) {
    session_.keep(
        [run](workbench::Workbench& workbench) { return workbench.writer().take_out(run).get(); });
  });
  return queueCard_;
}

void LaunchedRuns::setOptions(LaunchOptions options) {
  recent_->setRuns(options.recent, std::move(options.contacts));
  none_->setVisible(options.recent.empty());
  recent_->setVisible(!options.recent.empty());
  queue_->setQueue(options.queue, options.going);
  queueCard_->setVisible(!options.queue.empty());
  queueCard_->setNote(format::plural(static_cast<qint64>(options.queue.size()), counted::kRun));
}

}  // namespace heddle::gui
