#include "gui/views/targets/target_list_model.h"

namespace heddle::gui {

void TargetListModel::setEntries(std::vector<TargetEntry> entries) {
  beginResetModel();
  entries_ = std::move(entries);
  endResetModel();
}

void TargetListModel::update(const TargetEntry& entry) {
  const int row = indexOf(entry.name());
  if (row < 0) return;
  entries_[static_cast<size_t>(row)] = entry;
  Q_EMIT dataChanged(index(row), index(row));
}

int TargetListModel::indexOf(const QString& name) const {
  for (size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].name() == name) return static_cast<int>(i);
  return -1;
}

int TargetListModel::targets() const {
  int count = 0;
  for (const TargetEntry& entry : entries_) count += !entry.offered;
  return count;
}

int TargetListModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(entries_.size());
}

QVariant TargetListModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const TargetEntry& found = entry(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return found.name();
    case AddressRole:
      return addressOf(found);
    case EquipmentRole:
      return equipmentOf(found);
    case StateRole:
      return stateOf(found).text;
    case ToneRole:
      return static_cast<int>(stateOf(found).tone);
    case KnownRole:
      return stateOf(found).known;
    case OfferedRole:
      return found.offered;
    default:
      return {};
  }
}

}  // namespace heddle::gui
