// The Compare page's state from one start to the next: its splitter, what is compared and how.
#include <QSignalBlocker>

#include "gui/settings.h"
#include "gui/views/compare/compare_page.h"

namespace heddle::gui {
namespace {

const QString kRowsLayout = QStringLiteral("compare/rows"),
              kColumnsLayout = QStringLiteral("compare/columns");

}  // namespace

QString ComparePage::layoutKey() const { return isMany() ? kRowsLayout : kColumnsLayout; }

void ComparePage::keepLayout() {
  keeping_ = true;
  upper_->restoreState(openSettings()->value(layoutKey()).toByteArray());
}

void ComparePage::resetLayout() {
  board_->resetLayout();
  const auto settings = openSettings();
  for (const QString& key : {kRowsLayout, kColumnsLayout}) settings->remove(key);
  const bool rows = upper_->orientation() == Qt::Vertical;
  QList<int> sizes;
  for (int i = 0; i < upper_->count(); ++i) {
    const QSize hint = upper_->widget(i)->sizeHint();
    sizes.append(rows ? hint.height() : hint.width());
  }
  upper_->setSizes(sizes);
}

QJsonObject ComparePage::keptState() const {
  QJsonObject state{{"colored_by", colorBy_->choice()},
                    {"grouped_by", groupBy_->choice()},
                    {"differences", numbers_->current() == 1},
                    {"all_keys", keysShown_->current() == 1}};
  // The page chooses again where no person has chosen.
  if (chosen_) state["choices"] = choices_.toJson();
  return state;
}

void ComparePage::restoreState(const QJsonObject& state) {
  if (state.isEmpty()) return;
  colorBy_->restore(state["colored_by"].toString());
  groupBy_->restore(state["grouped_by"].toString());
  numbers_->setCurrent(state["differences"].toBool() ? 1 : 0);
  keysShown_->setCurrent(state["all_keys"].toBool() ? 1 : 0);
  const QSignalBlocker quiet(choices_);  // read when the page is shown
  choices_.restore(state["choices"].toObject());
  chosen_ = !runs().isEmpty();
}

}  // namespace heddle::gui
