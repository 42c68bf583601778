#include "gui/timeline/timeline_menu.h"

#include <QWidgetAction>
#include <algorithm>

#include "gui/widgets/search_field.h"

namespace heddle::gui {
namespace {

/// The key is shown; the timeline itself takes it.
QString withKey(const QString& text, const char* key) {
  return text + QChar('\t') + QLatin1String(key);
}

void addRowEntries(QMenu& menu, TimelineWidget& timeline, size_t row) {
  const QString title = timeline.rows()[row].title;
  const LaneChoice& lanes = timeline.lanes();
  menu.addSection(title);
  const auto add = [&](const QString& text, const char* key, auto does) {
    menu.addAction(withKey(text, key), &timeline,
                   [&timeline, row, does] { (timeline.*does)(row); });
  };
  add(lanes.pinned.contains(title) ? QObject::tr("Unpin this row")
                                   : QObject::tr("Pin this row at the top"),
      "P", &TimelineWidget::togglePinned);
  add(lanes.collapsed.contains(title) ? QObject::tr("Expand this row")
                                      : QObject::tr("Collapse this row"),
      "C", &TimelineWidget::toggleCollapsed);
  add(QObject::tr("Hide this row"), "H", &TimelineWidget::hide);
}

void addFilter(QMenu& menu, TimelineWidget& timeline) {
  auto* field = new SearchField(QObject::tr("Rows: 0-7, 12 or a name"), QStringLiteral("filter"));
  field->setText(timeline.lanes().filter);
  field->setMinimumWidth(220);
  QObject::connect(field, &QLineEdit::textChanged, &timeline, [&timeline](const QString& text) {
    LaneChoice lanes = timeline.lanes();
    lanes.filter = text;
    timeline.setLanes(lanes);
  });
  QObject::connect(field, &QLineEdit::returnPressed, &menu, &QMenu::close);
  auto* action = new QWidgetAction(&menu);
  action->setDefaultWidget(field);
  action->setText(QObject::tr("Filter rows"));
  menu.addAction(action);
}

void addStream(QMenu& menu, TimelineWidget& timeline, Stream stream, const QString& text) {
  const auto index = static_cast<size_t>(stream);
  QAction* action = menu.addAction(text);
  action->setCheckable(true);
  action->setChecked(timeline.lanes().streams[index]);
  // One of them stays.
  action->setEnabled(!action->isChecked() || timeline.lanes().streams[1 - index]);
  QObject::connect(action, &QAction::toggled, &timeline, [&timeline, index](bool on) {
    LaneChoice lanes = timeline.lanes();
    lanes.streams[index] = on;
    timeline.setLanes(lanes);
  });
}

}  // namespace

void fillTimelineMenu(QMenu& menu, TimelineWidget& timeline, std::optional<size_t> row) {
  if (row && *row < timeline.rows().size()) addRowEntries(menu, timeline, *row);
  menu.addSection(QObject::tr("Lanes"));
  addFilter(menu, timeline);
  menu.addAction(withKey(QObject::tr("Show all rows"), "Shift+H"), &timeline,
                 &TimelineWidget::showAllRows)
      ->setEnabled(timeline.lanes().hidesRows());
  menu.addAction(withKey(QObject::tr("Collapse or expand all rows"), "Shift+C"), &timeline,
                 &TimelineWidget::toggleAllCollapsed);
  addStream(menu, timeline, Stream::compute, QObject::tr("Compute lanes"));
  addStream(menu, timeline, Stream::communication, QObject::tr("Communication lanes"));
  const bool counts = std::ranges::any_of(
      timeline.rows(), [](const TimelineRow& each) { return !each.counters.empty(); });
  QAction* counters = menu.addAction(withKey(QObject::tr("Memory and bytes in flight"), "M"),
                                     &timeline, &TimelineWidget::toggleCounters);
  counters->setCheckable(true);
  counters->setChecked(timeline.lanes().counters);
  counters->setEnabled(counts);
  menu.addSection(QObject::tr("View"));
  menu.addAction(withKey(QObject::tr("Back to the view before"), "Backspace"), &timeline,
                 &TimelineWidget::goBack);
  menu.addAction(withKey(QObject::tr("Forward"), "Shift+Backspace"), &timeline,
                 &TimelineWidget::goForward);
  menu.addAction(withKey(QObject::tr("Show the whole step"), "F"), &timeline, &TimelineWidget::fit);
  menu.addAction(withKey(QObject::tr("Critical path"), "K"), &timeline,
                 &TimelineWidget::criticalPathWanted);
}

}  // namespace heddle::gui
