#include "gui/timeline/timeline_view.h"

#include "gui/timeline/timeline_export.h"
#include "gui/timeline/timeline_menu.h"
#include "gui/widgets/file_dialog.h"

namespace heddle::gui {
namespace {

constexpr int kLow = 420;         // below that height the panel is beside the lanes …
constexpr int kRoomBeside = 900;  // … where the view is so wide
constexpr int kBeside = 560, kUnder = 200;

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QSplitter(Qt::Vertical, parent) {
  setHandleWidth(1);
  setChildrenCollapsible(false);
  timeline_ = new TimelineWidget(this);
  tools_ = new TimelineTools(*timeline_);
  details_ = new QStackedWidget(this);
  statistics_ = new StatisticsPanel(*timeline_);
  criticalPath_ = new CriticalPathPanel(*timeline_);
  details_->addWidget(statistics_);
  details_->addWidget(criticalPath_);
  details_->hide();
  setStretchFactor(0, 1);
  setStretchFactor(1, 0);
  setFocusProxy(timeline_);
  connect(timeline_, &TimelineWidget::selectionChanged, this, [this] {
    if (timeline_->isDragging()) return;  // lanes must not move under the pointer
    if (timeline_->selection())
      show(statistics_);
    else if (details_->currentWidget() == statistics_)
      close();
  });
  connect(timeline_, &TimelineWidget::criticalPathWanted, this,
          [this] { criticalPath_->isVisible() ? close() : show(criticalPath_); });
  connect(timeline_, &TimelineWidget::menuWanted, this, &TimelineView::showMenu);
  connect(tools_, &TimelineTools::menuWanted, this,
          [this](const QPoint& at) { showMenu(at, std::nullopt); });
  connect(statistics_, &StatisticsPanel::closed, this, &TimelineView::close);
  connect(criticalPath_, &CriticalPathPanel::closed, this, &TimelineView::close);
}

void TimelineView::show(QWidget* panel) {
  details_->setCurrentWidget(panel);
  if (!details_->isHidden()) return;
  details_->show();
  arrange();
}

void TimelineView::close() {
  details_->hide();
  timeline_->setHighlight({});
  timeline_->setFocus();
}

void TimelineView::savePicture() {
  const QString path =
      FileDialog::fileToSave(this, tr("Save the timeline as a picture"),
                             QStringLiteral("timeline.png"), tr("Pictures (*.png *.svg)"));
  if (!path.isEmpty()) report(writePicture(*timeline_, path), path);
}

void TimelineView::saveTrace() {
  const QString path =
      FileDialog::fileToSave(this, tr("Save the shown rows as a Chrome trace"),
                             QStringLiteral("trace.json"), tr("Chrome trace (*.json)"));
  if (path.isEmpty()) return;
  if (!writer_) {
    writer_ = std::make_unique<Worker>(1, Worker::AtEnd::finish);
    writing_ = std::make_unique<Job>(*writer_, this);
  }
  writing_->add([rows = timeline_->shownRows(), path] { return writeTrace(rows, path); },
                [this, path](const Result<>& saved) { report(saved, path); });
}

void TimelineView::report(const Result<>& saved, const QString& path) {
  Q_EMIT this->saved(saved ? tr("The timeline was saved as %1").arg(path)
                           : QString::fromStdString(saved.error().message),
                     saved.has_value());
}

void TimelineView::keepLanesAs(const QString& key) {
  timeline_->setLanes(readLanes(key));
  connect(timeline_, &TimelineWidget::lanesChanged, this,
          [this, key] { keepLanes(key, timeline_->lanes()); });
}

void TimelineView::showMenu(const QPoint& globalPosition, std::optional<size_t> row) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  fillTimelineMenu(*menu, *timeline_, row);
  menu->addSection(tr("Save"));
  menu->addAction(tr("Save as picture …"), this, &TimelineView::savePicture);
  menu->addAction(tr("Save as Chrome trace …"), this, &TimelineView::saveTrace);
  menu->popup(globalPosition);
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QSplitter::resizeEvent(event);
  arrange();
}

void TimelineView::arrange() {
  const auto wanted = height() < kLow && width() >= kRoomBeside ? Qt::Horizontal : Qt::Vertical;
  if (wanted == orientation() && sizes().value(1) > 0) return;
  setOrientation(wanted);
  const int all = wanted == Qt::Horizontal ? width() : height();
  const int panel = wanted == Qt::Horizontal ? kBeside : std::min(kUnder, all / 2);
  setSizes({all - panel, panel});
}

}  // namespace heddle::gui
