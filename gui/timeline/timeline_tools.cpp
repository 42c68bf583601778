#include "gui/timeline/timeline_tools.h"

#include <QHBoxLayout>
#include <QKeyEvent>

#include "gui/format.h"

namespace heddle::gui {

TimelineTools::TimelineTools(TimelineWidget& timeline) : timeline_(timeline) {
  field_ = new SearchField(tr("Find an operator or module"));
  field_->setPlaceholderText(tr("Operator or module"));  // the whole name is for who cannot see
  field_->setFixedWidth(190);
  field_->setToolTip(
      tr("Enter: next, Shift+Enter: previous, Esc: end. The hits of a lane follow "
         "one another, then those of the next lane."));
  field_->installEventFilter(this);
  count_ = mono({});
  count_->setObjectName(QStringLiteral("matches"));
  previous_ = iconButton(QStringLiteral("chevron-up"), tr("Previous match"));
  next_ = iconButton(QStringLiteral("chevron-down"), tr("Next match"));
  find_ = iconButton(QStringLiteral("search"), tr("Find an operator or module in the timeline"));
  find_->setObjectName(QStringLiteral("find"));
  find_->setProperty("opensSearch", true);
  menu_ = iconButton(QStringLiteral("more"), tr("Lanes and more of the timeline"));
  menu_->setObjectName(QStringLiteral("timelineMenu"));
  connect(menu_, &QToolButton::clicked, this,
          [this] { Q_EMIT menuWanted(menu_->mapToGlobal(QPoint(0, menu_->height() + 2))); });
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(4);
  row->addStretch(1);
  for (QWidget* part :
       std::initializer_list<QWidget*>{count_, previous_, next_, field_, find_, menu_})
    row->addWidget(part);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& text) {
    timeline_.setSearch(text);
    arrange();
  });
  connect(previous_, &QToolButton::clicked, this, [this] { timeline_.goToMatch(-1); });
  connect(next_, &QToolButton::clicked, this, [this] { timeline_.goToMatch(1); });
  connect(find_, &QToolButton::clicked, this, &TimelineTools::startSearch);
  connect(&timeline_, &TimelineWidget::searchWanted, this, &TimelineTools::startSearch);
  connect(&timeline_, &TimelineWidget::foundChanged, this, &TimelineTools::showCount);
  connect(&timeline_, &TimelineWidget::currentChanged, this, &TimelineTools::showCount);
  arrange();
}

void TimelineTools::setNarrow(bool narrow) {
  narrow_ = narrow;
  arrange();
}

void TimelineTools::startSearch() {
  open_ = true;
  arrange();
  field_->setFocus();
  field_->selectAll();
  Q_EMIT searchingChanged();
}

void TimelineTools::endSearch() {
  open_ = false;
  field_->clear();
  arrange();
  timeline_.setFocus();
  Q_EMIT searchingChanged();
}

void TimelineTools::arrange() {
  const bool shown = !narrow_ || open_, searches = shown && !field_->text().isEmpty();
  field_->setVisible(shown);
  find_->setVisible(!shown);
  for (QWidget* part : std::initializer_list<QWidget*>{count_, previous_, next_})
    part->setVisible(searches);
  showCount();
}

void TimelineTools::showCount() {
  const int64_t matches = timeline_.matches(), match = timeline_.match();
  count_->setText(match > 0 ? tr("%1 of %2").arg(format::count(match), format::count(matches))
                            : format::count(matches));
  count_->setAccessibleName(
      match > 0 ? tr("Match %1 of %2").arg(format::count(match), format::count(matches))
                : tr("Matches: %1").arg(format::count(matches)));
  setTone(count_, matches == 0 ? "warn" : "muted");
  previous_->setEnabled(matches > 0);
  next_->setEnabled(matches > 0);
}

bool TimelineTools::eventFilter(QObject* watched, QEvent* event) {
  if (watched != field_ || event->type() != QEvent::KeyPress) return false;
  const auto* key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Escape) {
    endSearch();
    return true;
  }
  if (key->key() != Qt::Key_Return && key->key() != Qt::Key_Enter) return false;
  timeline_.goToMatch(key->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
  return true;
}

}  // namespace heddle::gui
