// The list at the left: targets, then hosts of ~/.ssh/config that are no target yet.
#pragma once

#include <QAbstractListModel>
#include <QHash>
#include <optional>
#include <vector>

#include "gui/theme/icons.h"
#include "workbench/targets.h"

namespace heddle::gui {

/// One entry of the list.
struct TargetEntry {
  remote::Target target;
  bool offered = false;  // a host of ~/.ssh/config, not added yet
  std::optional<probe::Report> report;
  QString error;      // the last attempt to connect failed: why
  QString lost;       // a run there goes on, and its connection is lost: why
  bool busy = false;  // being connected to

  QString name() const { return QString::fromStdString(target.name); }
  /// What the probe found may hold no longer.
  bool isOutOfReach() const { return !error.isEmpty() || !lost.isEmpty(); }
  bool isThisMachine() const { return target.name == remote::kThisMachine; }
};

/// "ada@hgx-07.lab through gate.lab"; "this computer" for this machine.
QString addressOf(const TargetEntry& entry);
/// "16 cores, 62.6 GiB" or what else is known.
QString equipmentOf(const TargetEntry& entry);
/// A word for its state, and how it looks.
struct TargetState {
  QString text;
  Tone tone = Tone::muted;
  bool known = false;  // it has been probed
};
TargetState stateOf(const TargetEntry& entry);

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
