#include "gui/window/preference_list.h"

#include <QEvent>
#include <algorithm>

#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"

namespace heddle::gui {
namespace {

constexpr int kTitleWidth = 176;

/// The wheel scrolls the list; over a field it would change what nobody means to change.
class WheelPast : public QObject {
 public:
  using QObject::QObject;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
    event->ignore();
    return true;
  }
};

}  // namespace

PreferenceList::PreferenceList(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, metric::related, 0);
  grid_->setHorizontalSpacing(metric::group);
  grid_->setVerticalSpacing(metric::within);
  grid_->setColumnMinimumWidth(0, kTitleWidth);
  grid_->setColumnStretch(1, 1);
  grid_->setAlignment(Qt::AlignTop);
}

void PreferenceList::beginSection(const QString& title) {
  heading_ = section(title);
  heading_->setContentsMargins(0, rows_.empty() ? 0 : metric::group, 0, metric::within);
  grid_->addWidget(heading_, grid_->rowCount(), 0, 1, 2);
}

void PreferenceList::addRow(const QString& title, QWidget* control, const QString& note) {
  Row row{{control}, heading_->text() + QChar(' ') + title + QChar(' ') + note, heading_};
  const int at = grid_->rowCount();
  if (title.isEmpty()) {
    grid_->addWidget(control, at, 0, 1, 2);
  } else {
    QLabel* name = fieldLabel(title, control);
    name->setMinimumHeight(metric::field);
    grid_->addWidget(name, at, 0, Qt::AlignTop);
    grid_->addWidget(control, at, 1, Qt::AlignLeft | Qt::AlignVCenter);
    row.widgets << name;
    if (control->accessibleName().isEmpty()) control->setAccessibleName(title);
  }
  for (QWidget* field : control->findChildren<QWidget*>() + QList<QWidget*>{control}) {
    if (field->focusPolicy() != Qt::WheelFocus) continue;
    field->setFocusPolicy(Qt::StrongFocus);
    field->installEventFilter(new WheelPast(field));
  }
  if (!note.isEmpty()) {
    QLabel* words = caption(note);
    words->setWordWrap(true);
    words->setContentsMargins(0, 0, 0, metric::within);
    control->setAccessibleDescription(note);
    grid_->addWidget(words, at + 1, title.isEmpty() ? 0 : 1, 1, title.isEmpty() ? 2 : 1);
    row.widgets << words;
  }
  rows_.push_back(std::move(row));
}

bool PreferenceList::filter(const QString& text) {
  const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  bool any = false;
  for (const Row& row : rows_) row.heading->hide();
  for (const Row& row : rows_) {
    const bool fits = std::ranges::all_of(
        words, [&](const QString& word) { return row.words.contains(word, Qt::CaseInsensitive); });
    for (QWidget* widget : row.widgets) widget->setVisible(fits);
    if (fits) row.heading->show();
    any |= fits;
  }
  return any;
}

}  // namespace heddle::gui
