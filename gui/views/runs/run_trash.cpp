#include "gui/views/runs/run_trash.h"

#include "gui/format.h"
#include "workbench/control.h"

namespace heddle::gui {
namespace {

QList<qint64> idsOf(const QList<NamedRun>& runs) {
  QList<qint64> ids;
  for (const NamedRun& run : runs) ids.append(run.id);
  return ids;
}

/// "nan-1 is …", "3 runs are …".
QString say(const QList<NamedRun>& runs, const QString& what) {
  if (runs.size() == 1) return QObject::tr("%1 is %2").arg(runs.first().name, what);
  return QObject::tr("%1 are %2").arg(format::plural(runs.size(), counted::kRun), what);
}

}  // namespace

RunTrash::RunTrash(Session& session, QWidget* page)
    : QObject(page), session_(session), page_(page), acting_(session.workingThreads(), this) {}

void RunTrash::act(const QList<qint64>& runs, Change change, const QString& done,
                   std::function<void()> undo) {
  session_.act(
      acting_,
      [runs, change = std::move(change)](workbench::Workbench& workbench) -> Result<> {
        for (const qint64 run : runs)
          if (Result<> changed = change(workbench, run); !changed) return changed;
        return {};
      },
      [this, done, undo = std::move(undo)](const Result<>& changed) {
        if (!changed)
          Q_EMIT session_.message(QString::fromStdString(changed.error().message), Tone::bad);
        else if (undo)
          Q_EMIT session_.offered(done, tr("Undo"), undo);
        else
          Q_EMIT session_.message(done, Tone::good);
        Q_EMIT this->changed();
      });
}

void RunTrash::discard(const QList<NamedRun>& runs) {
  const QPointer<RunTrash> self = this;
  act(
      idsOf(runs),
      [](workbench::Workbench& workbench, qint64 run) {
        return workbench.writer().trash(run).get();
      },
      say(runs, tr("in the trash")),
      [self, runs] {
        if (self) self->restore(runs);
      });
}

void RunTrash::restore(const QList<NamedRun>& runs) {
  act(
      idsOf(runs),
      [](workbench::Workbench& workbench, qint64 run) {
        return workbench.writer().restore(run).get();
      },
      say(runs, tr("back")));
}

void RunTrash::removeForGood(const QList<NamedRun>& runs) {
  RemovalDialog dialog(session_, runs, page_);
  if (dialog.exec() != QDialog::Accepted || dialog.runs().isEmpty()) return;
  QList<NamedRun> going;
  for (const NamedRun& run : runs)
    if (dialog.runs().contains(run.id)) going.append(run);
  act(
      idsOf(going),
      [path = session_.storePath().toStdString()](workbench::Workbench& workbench,
                                                  qint64 id) -> Result<> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        const auto run = reader->run(id);
        if (!run) return fail(run);
        return workbench::remove(workbench.writer(), *run);
      },
      say(going, tr("deleted for good")));
}

}  // namespace heddle::gui
