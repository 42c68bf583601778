// The list at the left: targets, then hosts of ~/.ssh/config that are no target yet.
#pragma once

#include <QAbstractListModel>
#include <vector>

#include "gui/models/target_entry.h"

namespace heddle::gui {

class TargetListModel : public QAbstractListModel {
  Q_OBJECT

 public:
  enum Role {
    AddressRole = Qt::UserRole,
    EquipmentRole,
    StateRole,
    ToneRole,
    KnownRole,
    OfferedRole
  };

  using QAbstractListModel::QAbstractListModel;
  void setEntries(std::vector<TargetEntry> entries);
  const TargetEntry& entry(int row) const { return entries_[static_cast<size_t>(row)]; }
  /// Replaces the entry of that name.
  void update(const TargetEntry& entry);
  int indexOf(const QString& name) const;  // -1: not there
  int targets() const;                     // without the offered ones

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  std::vector<TargetEntry> entries_;
};

}  // namespace heddle::gui
