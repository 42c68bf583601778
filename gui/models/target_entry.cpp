#include "gui/models/target_entry.h"

#include <QObject>

#include "gui/format.h"
#include "remote/batch_systems.h"

namespace heddle::gui {

QString addressOf(const TargetEntry& entry) {
  if (entry.isThisMachine()) return QObject::tr("this computer, no SSH");
  const QString system =
      entry.target.job ? remote::batch_system(entry.target.job->system)->name : QString();
  if (entry.target.hosts.front().is_this_machine())
    return entry.target.job ? QObject::tr("%1 on this computer").arg(system)
                            : QObject::tr("this computer, no SSH");
  QStringList hosts;
  for (const remote::Host& host : entry.target.hosts) {
    QString text = QString::fromStdString(host.address);
    if (!host.user.empty()) text.prepend(QString::fromStdString(host.user) + QChar('@'));
    if (host.port != 22) text += QStringLiteral(":%1").arg(host.port);
    if (!host.jump.empty())
      text += QObject::tr(" through %1").arg(QString::fromStdString(host.jump));
    hosts << text;
  }
  const QString all = hosts.join(QStringLiteral(", "));
  return entry.target.job ? QObject::tr("%1 behind %2").arg(system, all) : all;
}

QString equipmentOf(const TargetEntry& entry) {
  if (!entry.report) return entry.offered ? QObject::tr("in ~/.ssh/config") : QString();
  const probe::Report& report = *entry.report;
  QString text = QObject::tr("%1, %2").arg(format::plural(report.cores, counted::kCore),
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

Result<LostTargets> lostTargets(storage::Reader& reader) {
  const auto links = reader.links();
  if (!links) return fail(links);
  const auto runs = reader.runs();
  if (!runs) return fail(runs);
  LostTargets lost;
  for (const storage::RunSummary& run : *runs)
    if (const auto link = links->find(run.id); link != links->end() && link->second.lost)
      lost.emplace(run.target, run.name + ": " + link->second.reason);
  return lost;
}

}  // namespace heddle::gui
