#include "gui/views/targets/target_list_model.h"

#include "gui/format.h"

namespace heddle::gui {

QString addressOf(const TargetEntry& entry) {
  if (entry.isThisMachine()) return QObject::tr("this computer, no SSH");
  QStringList hosts;
  for (const remote::Host& host : entry.target.hosts) {
    QString text = QString::fromStdString(host.address);
    if (!host.user.empty()) text.prepend(QString::fromStdString(host.user) + QChar('@'));
    if (host.port != 22) text += QStringLiteral(":%1").arg(host.port);
    if (!host.jump.empty())
      text += QObject::tr(" through %1").arg(QString::fromStdString(host.jump));
    hosts << text;
  }
  return hosts.join(QStringLiteral(", "));
}

QString equipmentOf(const TargetEntry& entry) {
  if (!entry.report) return entry.offered ? QObject::tr("in ~/.ssh/config") : QString();
  const probe::Report& report = *entry.report;
  QString text = QObject::tr("%1, %2").arg(format::plural(report.cores, QObject::tr("core")),
                                           format::bytes(double(report.memory_bytes)));
  if (!report.gpus.empty())
    text = QStringLiteral("%1 × %2, ")
               .arg(report.gpus.size())
               .arg(QString::fromStdString(report.gpus.front().name)) +
           text;
  return text;
}

TargetState stateOf(const TargetEntry& entry) {
  if (entry.busy) return {QObject::tr("connecting …"), Tone::muted, false};
  if (!entry.error.isEmpty()) return {QObject::tr("not reached"), Tone::bad, true};
  if (!entry.lost.isEmpty()) return {QObject::tr("connection lost"), Tone::bad, true};
  if (entry.offered) return {QObject::tr("offered"), Tone::muted, false};
  if (!entry.report) return {QObject::tr("not probed"), Tone::muted, false};
  int failed = 0, warned = 0;
  for (const probe::Check& check : entry.report->checks) {
    failed += check.status == probe::Status::fail;
    warned += check.status == probe::Status::warn;
  }
  if (failed > 0) return {QObject::tr("%1 fail").arg(failed), Tone::bad, true};
  if (warned > 0) return {QObject::tr("%1 warn").arg(warned), Tone::warn, true};
  return {QObject::tr("ready"), Tone::good, true};
}

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
