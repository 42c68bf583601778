#include "gui/views/runs/run_import.h"

#include "gui/format.h"
#include "gui/widgets/file_dialog.h"

namespace heddle::gui {

RunImport::RunImport(Session& session, QWidget* page)
    : QObject(page), session_(session), page_(page), importing_(session.workingThreads(), this) {}

void RunImport::choose() {
  take(FileDialog::folders(page_, tr("Run directories to import, or folders that contain some"),
                           tr("Import")));
}

void RunImport::take(const QStringList& chosen) {
  if (chosen.isEmpty()) return;
  std::vector<std::string> paths;
  for (const QString& path : chosen) paths.push_back(path.toStdString());
  Q_EMIT session_.message(tr("Importing …"), Tone::text);
  session_.act(
      importing_,
      [paths = std::move(paths)](
          workbench::Workbench& workbench) -> Result<std::vector<workbench::Imported>> {
        return workbench::import_runs(workbench.store_path(), workbench.writer(), paths);
      },
      [this](const Result<std::vector<workbench::Imported>>& done) {
        if (done) return report(*done);
        Q_EMIT session_.message(QString::fromStdString(done.error().message), Tone::bad);
      });
}

void RunImport::report(const std::vector<workbench::Imported>& done) {
  QList<qint64> runs;
  qint64 here = 0;
  QStringList names, trashed, faults;
  for (const workbench::Imported& one : done) {
    if (!one.run) {
      faults << QString::fromStdString(one.run.error().message);
    } else if (one.in_trash) {
      trashed << QString::fromStdString(one.run->name);
    } else if (one.was_here) {
      ++here;
    } else {
      runs.append(one.run->id);
      names << QString::fromStdString(one.run->name);
    }
  }
  QStringList text;
  if (runs.size() == 1) text << tr("%1 was imported").arg(names.first());
  if (runs.size() > 1)
    text << tr("%1 were imported").arg(format::plural(runs.size(), counted::kRun));
  if (here == 1) text << tr("one run was here already");
  if (here > 1) text << tr("%1 were here already").arg(format::plural(here, counted::kRun));
  if (trashed.size() == 1)
    text << tr("%1 is in the trash; Restore there brings it back").arg(trashed.first());
  if (trashed.size() > 1)
    text << tr("%1 are in the trash; Restore there brings them back")
                .arg(format::plural(trashed.size(), counted::kRun));
  if (!faults.isEmpty()) text << faults.first();
  if (faults.size() > 1) text << tr("and %1 more").arg(faults.size() - 1);
  Q_EMIT session_.message(text.join(QStringLiteral("; ")),
                          faults.isEmpty() ? Tone::good : Tone::bad);
  Q_EMIT imported(runs);
}

}  // namespace heddle::gui
