#include "gui/views/runs/run_import.h"

#include "base/clock.h"
#include "gui/format.h"
#include "gui/views/runs/other_runs_dialog.h"
#include "gui/widgets/file_dialog.h"
#include "workbench/importers/heddle_store.h"

namespace heddle::gui {
namespace {

constexpr double kTellSeconds = 5;  // a toast stays for a little longer

}  // namespace

QString wordsOf(const workbench::ImportProgress& progress) {
  if (progress.total > 0)
    return RunImport::tr("Importing %1 of %2 …")
        .arg(format::count(static_cast<qint64>(progress.done + 1)),
             format::count(static_cast<qint64>(progress.total)));
  return RunImport::tr("Looking for runs; %1 so far …")
      .arg(format::plural(static_cast<qint64>(progress.seen), counted::kFile));
}

/// Says every few seconds how far an import is; on the import's thread.
class RunImport::Teller {
 public:
  explicit Teller(RunImport* import) : import_(import) {}
  void tell(const workbench::ImportProgress& progress) {
    if (seconds_since(told_) < kTellSeconds) return;
    told_ = Clock::now();
    QMetaObject::invokeMethod(
        qApp,
        [import = import_, text = wordsOf(progress)] {
          if (import) import->say(text, Tone::text);
        },
        Qt::QueuedConnection);
  }

 private:
  QPointer<RunImport> import_;
  Clock::time_point told_ = Clock::now();
};

RunImport::RunImport(Session& session, QWidget* page)
    : QObject(page),
      session_(session),
      page_(page),
      importing_(session.workingThreads(), this),
      looking_(session.workingThreads(), this) {
  connect(&session, &Session::otherStoreRequested, this, &RunImport::compare);
}

RunImport::~RunImport() { stop_.request_stop(); }

void RunImport::say(const QString& text, Tone tone) {
  Q_EMIT session_.message(text, tone, QStringLiteral("import"));
}

void RunImport::choose() {
  const QStringList chosen = FileDialog::paths(
      page_, tr("Run directories, run files, stores or logs to import"),
      tr("Runs, stores, logs (*.heddle *.sqlite *.db *.csv);;All files (*)"), tr("Import"));
  if (chosen.size() == 1 && workbench::kHeddleStore.recognise(chosen.first().toStdString()))
    return look(chosen.first(), std::nullopt);
  take(chosen);
}

void RunImport::compare(const QList<qint64>& with) {
  const QString store =
      FileDialog::fileToOpen(page_->window(), tr("A store with runs to compare with"), {},
                             tr("Stores (*.sqlite *.db *.heddle);;All files (*)"));
  if (!store.isEmpty()) look(store, with);
}

void RunImport::look(const QString& store, const std::optional<QList<qint64>>& with) {
  looking_.start(
      [path = store.toStdString()]() -> Result<std::vector<storage::RunSummary>> {
        if (!workbench::kHeddleStore.recognise(path)) return fail("{}: it is no store", path);
        auto reader = storage::Reader::open(path);
        return reader ? reader->runs() : fail(reader);
      },
      [this, store, with](const Result<std::vector<storage::RunSummary>>& runs) {
        if (!runs) return say(QString::fromStdString(runs.error().message), Tone::bad);
        if (!with && runs->size() < 2) return take({store});
        auto* dialog = new OtherRunsDialog(store, *runs, with.has_value(), page_->window());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        connect(dialog, &OtherRunsDialog::chosen, this,
                [this, with](const QStringList& paths) { take(paths, with); });
        dialog->open();
      });
}

void RunImport::take(const QStringList& chosen) { take(chosen, std::nullopt); }

void RunImport::take(const QStringList& chosen, const std::optional<QList<qint64>>& with) {
  if (chosen.isEmpty()) return;
  std::vector<std::string> paths;
  for (const QString& path : chosen) paths.push_back(path.toStdString());
  say(tr("Importing …"), Tone::text);
  session_.act(
      importing_,
      [paths = std::move(paths), teller = Teller(this), stop = stop_.get_token()](
          workbench::Workbench& workbench) mutable -> Result<std::vector<workbench::Imported>> {
        return workbench::import_runs(workbench.store_path(), workbench.writer(), paths,
                                      [&](const workbench::ImportProgress& progress) {
                                        teller.tell(progress);
                                        return !stop.stop_requested();
                                      });
      },
      [this, with](const Result<std::vector<workbench::Imported>>& done) {
        if (!done) return say(QString::fromStdString(done.error().message), Tone::bad);
        report(*done);
        if (with) compareAll(*done, *with);
      });
}

void RunImport::compareAll(const std::vector<workbench::Imported>& done, QList<qint64> with) {
  for (const workbench::Imported& one : done)
    if (one.run && !one.in_trash && !with.contains(one.run->id)) with << one.run->id;
  Q_EMIT session_.compareRequested(with);
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
  say(text.join(QStringLiteral("; ")), faults.isEmpty() ? Tone::good : Tone::bad);
  Q_EMIT imported(runs);
}

}  // namespace heddle::gui
