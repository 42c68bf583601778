#include "gui/views/compare/key_box.h"

#include <QAbstractListModel>
#include <QSignalBlocker>
#include <utility>

namespace heddle::gui {

/// The box's choices. There may be thousands, so they are set all at once.
class KeyList : public QAbstractListModel {
 public:
  using QAbstractListModel::QAbstractListModel;

  /// `tips`: the tooltips of the last names.
  void set(QStringList names, QStringList tips) {
    if (names == names_ && tips == tips_) return;
    beginResetModel();
    names_ = std::move(names);
    tips_ = std::move(tips);
    endResetModel();
  }
  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(names_.size());
  }
  QVariant data(const QModelIndex& index, int role) const override {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    if (role == Qt::DisplayRole || role == Qt::EditRole) return names_[index.row()];
    const qsizetype tip = index.row() - (names_.size() - tips_.size());
    return role == Qt::ToolTipRole && tip >= 0 ? QVariant(tips_[tip]) : QVariant();
  }

 private:
  QStringList names_, tips_;
};

KeyBox::KeyBox(const QString& name, const QStringList& first, QWidget* parent)
    : QComboBox(parent), first_(first), list_(new KeyList(this)) {
  setAccessibleName(name);
  setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  setMinimumContentsLength(12);
  setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
  setMaxVisibleItems(24);
  setModel(list_);
  list_->set(first_, {});
  setCurrentIndex(first_.isEmpty() ? -1 : 0);
}

void KeyBox::setKeys(const std::vector<ComparedKey>& keys) {
  const QSignalBlocker quiet(this);
  const QString before = ownChoice() < 0 ? currentText() : QString();
  const int own = ownChoice();
  QStringList names = first_, tips;
  for (const ComparedKey& key : keys) {
    names << key.name;
    tips << titleOf(key.kind);
  }
  list_->set(std::move(names), std::move(tips));
  const int found = before.isEmpty() ? own : findText(before);
  setCurrentIndex(std::max(0, found));
  if (!wanted_.isEmpty()) choose(std::exchange(wanted_, {}));
}

int KeyBox::ownChoice() const { return currentIndex() < first_.size() ? currentIndex() : -1; }

std::optional<size_t> KeyBox::key() const {
  if (currentIndex() < first_.size()) return std::nullopt;
  return static_cast<size_t>(currentIndex() - first_.size());
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
