#include "gui/views/compare/key_box.h"

#include <QSignalBlocker>
#include <utility>

namespace heddle::gui {

KeyBox::KeyBox(const QString& name, const QStringList& first, QWidget* parent)
    : QComboBox(parent), first_(static_cast<int>(first.size())) {
  setAccessibleName(name);
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  setMinimumContentsLength(12);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setMaxVisibleItems(24);
  addItems(first);
}

void KeyBox::setKeys(const std::vector<ComparedKey>& keys) {
  const QSignalBlocker quiet(this);
  const QString before = ownChoice() < 0 ? currentText() : QString();
  const int own = ownChoice();
  while (count() > first_) removeItem(count() - 1);
  for (const ComparedKey& key : keys) {
    addItem(key.name);
    setItemData(count() - 1, titleOf(key.kind), Qt::ToolTipRole);
  }
  const int found = before.isEmpty() ? own : findText(before);
  setCurrentIndex(std::max(0, found));
  if (!wanted_.isEmpty()) choose(std::exchange(wanted_, {}));
}

int KeyBox::ownChoice() const { return currentIndex() < first_ ? currentIndex() : -1; }

std::optional<size_t> KeyBox::key() const {
  if (currentIndex() < first_) return std::nullopt;
  return static_cast<size_t>(currentIndex() - first_);
}

void KeyBox::choose(const QString& key) {
  if (const int found = findText(key); found >= 0) setCurrentIndex(found);
}

void KeyBox::restore(const QString& choice) {
  if (findText(choice) < 0)
    wanted_ = choice;
  else
    choose(choice);
}

}  // namespace heddle::gui
