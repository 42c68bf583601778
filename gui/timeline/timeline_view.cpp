#include "gui/timeline/timeline_view.h"

#include "gui/timeline/timeline_menu.h"

namespace heddle::gui {
namespace {

constexpr int kLow = 420;         // below that height the panel is beside the lanes …
constexpr int kRoomBeside = 900;  // … where the view is so wide
constexpr int kBeside = 460, kUnder = 200;

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QSplitter(Qt::Vertical, parent) {
  setHandleWidth(1);
  setChildrenCollapsible(false);
  timeline_ = new TimelineWidget;
  tools_ = new TimelineTools(*timeline_);
  statistics_ = new StatisticsPanel(*timeline_);
  statistics_->hide();
  addWidget(timeline_);
  addWidget(statistics_);
  setStretchFactor(0, 1);
  setStretchFactor(1, 0);
  setFocusProxy(timeline_);
  connect(timeline_, &TimelineWidget::selectionChanged, this, [this] {
    const bool wanted = timeline_->selection().has_value();
    if (wanted == statistics_->isVisibleTo(this)) return;
    statistics_->setVisible(wanted);
    arrange();
  });
  connect(timeline_, &TimelineWidget::menuWanted, this, &TimelineView::showMenu);
  connect(tools_, &TimelineTools::menuWanted, this,
          [this](const QPoint& at) { showMenu(at, std::nullopt); });
  connect(statistics_, &StatisticsPanel::closed, this, [this] {
    statistics_->hide();
    timeline_->setHighlight({});
    timeline_->setFocus();
  });
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
