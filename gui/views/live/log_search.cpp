#include "gui/views/live/log_search.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QTextDocument>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"

namespace heddle::gui {

LogSearch::LogSearch(QTextBrowser* view, QWidget* parent) : QWidget(parent), view_(view) {
  field_ = new SearchField(tr("Search the log"));
  field_->installEventFilter(this);
  field_->setMinimumWidth(80);
  // The card keeps its width.
  field_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  count_ = caption({});
  count_->setMinimumWidth(count_->fontMetrics().horizontalAdvance(QStringLiteral("000 of 000")));
  count_->setAlignment(Qt::AlignCenter);
  previous_ = iconButton(QStringLiteral("chevron-up"), tr("Previous place (Shift+Enter)"));
  next_ = iconButton(QStringLiteral("chevron-down"), tr("Next place (Enter)"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 12, 4);
  row->setSpacing(4);
  row->addWidget(field_, 1);
  row->addWidget(count_);
  row->addWidget(previous_);
  row->addWidget(next_);
  connect(previous_, &QToolButton::clicked, this, [this] { step(-1); });
  connect(next_, &QToolButton::clicked, this, [this] { step(1); });
  connect(field_, &QLineEdit::textChanged, this, [this] {
    places_.clear();
    Q_EMIT wantedChanged();
    if (places_.empty()) return;
    current_ = places_.size() - 1;  // the newest line is what one looks for
    step(0);
  });
  connect(&Theme::instance(), &Theme::changed, this, &LogSearch::mark);
  mark();
}

KeyTable LogSearch::keys() {
  return {tr("Log"),
          {{{QKeySequence(Qt::Key_Return)}, tr("Next place that the search finds")},
           {{QKeySequence(Qt::SHIFT | Qt::Key_Return)}, tr("The one before")},
           {{QKeySequence(Qt::Key_Escape)}, tr("End the search")},
           {{QKeySequence(QKeySequence::SelectAll)}, tr("Select all lines")},
           {{QKeySequence(QKeySequence::Copy)}, tr("Copy the selected lines")}}};
}

void LogSearch::open() {
  show();
  field_->setFocus(Qt::ShortcutFocusReason);
  field_->selectAll();
}

void LogSearch::refresh() {
  const int at = current_ < places_.size() ? places_[current_].selectionStart() : -1;
  places_.clear();
  if (!wanted().isEmpty()) {
    QTextCursor found(view_->document());
    while (!(found = view_->document()->find(wanted(), found)).isNull()) places_.push_back(found);
  }
  // The place that was shown, or the one that took its place.
  const auto same = std::find_if(places_.begin(), places_.end(), [at](const QTextCursor& place) {
    return place.selectionStart() >= at;
  });
  current_ = same == places_.end() ? places_.size() - std::min<size_t>(places_.size(), 1)
                                   : static_cast<size_t>(same - places_.begin());
  mark();
}

void LogSearch::step(int by) {
  if (places_.empty()) return;
  const auto count = static_cast<int>(places_.size());
  current_ = static_cast<size_t>((static_cast<int>(current_) + by + count) % count);
  Q_EMIT wentTo();
  // Without a selection: the mark shows the place.
  QTextCursor place = places_[current_];
  place.setPosition(place.selectionStart());
  view_->setTextCursor(place);
  view_->ensureCursorVisible();
  mark();
}

void LogSearch::mark() {
  const Colors& c = colors();
  QList<QTextEdit::ExtraSelection> marks;
  for (size_t i = 0; i < places_.size(); ++i) {
    QTextEdit::ExtraSelection mark;
    mark.cursor = places_[i];
    mark.format.setBackground(blend(c.surface, c.warn, i == current_ ? 0.75 : 0.3));
    if (i == current_) mark.format.setFontUnderline(true);
    marks.append(mark);
  }
  view_->setExtraSelections(marks);
  for (QToolButton* button : {previous_, next_}) button->setEnabled(!places_.empty());
  count_->setText(wanted().isEmpty() ? QString()
                  : places_.empty()  ? tr("none")
                                     : tr("%1 of %2")
                                          .arg(format::count(static_cast<qint64>(current_) + 1),
                                               format::count(static_cast<qint64>(places_.size()))));
  count_->setAccessibleName(tr("Place: %1").arg(count_->text()));
}

bool LogSearch::eventFilter(QObject* watched, QEvent* event) {
  if (watched == field_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
      step(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return true;
    }
    if (key->key() == Qt::Key_Escape) {
      field_->clear();
      Q_EMIT closed();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace heddle::gui
