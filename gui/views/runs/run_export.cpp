#include "gui/views/runs/run_export.h"

#include <utility>

#include "gui/format.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/why_not.h"
#include "storage/export.h"
#include "workbench/importers/heddle_store.h"
#include "workbench/run_file.h"
#include "workbench/weights.h"

namespace heddle::gui {

void allow(QAction* action, const QString& text, const QString& reason) {
  action->setText(reason.isEmpty() ? text : QStringLiteral("%1 – %2").arg(text, reason));
  action->setEnabled(reason.isEmpty());
  setWhyNot(action, reason);
}

RunExport::RunExport(Session& session, QWidget* page)
    : QObject(page),
      session_(session),
      page_(page),
      exporting_(session.workingThreads(), this),
      converting_(session.workingThreads(), this),
      packing_(session.workingThreads(), this),
      checking_(session.readingThread(), this) {
  export_ = new QAction(icon(QStringLiteral("download")), tr("Export run"), this);
  export_->setObjectName(QStringLiteral("exportRuns"));
  weights_ = new QAction(icon(QStringLiteral("checkpoint")), tr("Export weights"), this);
  weights_->setObjectName(QStringLiteral("exportWeights"));
  setWhyNot(export_, tr("choose a run first"));
  weights_->setToolTip(tr("The newest checkpoint, as a folder that transformers loads"));
  connect(export_, &QAction::triggered, this, &RunExport::exportRuns);
  connect(weights_, &QAction::triggered, this, &RunExport::exportWeights);
  file_ = new QAction(icon(QStringLiteral("file")), tr("Save as one file"), this);
  file_->setObjectName(QStringLiteral("exportRunFile"));
  file_->setToolTip(tr("Everything that the store has about the run, to send; Import reads it"));
  connect(file_, &QAction::triggered, this, &RunExport::exportFile);
}

void RunExport::describe(const QList<qint64>& runs) {
  runs_ = runs;
  export_->setEnabled(!runs.isEmpty());
  export_->setText(
      tr("Export %1")
          .arg(runs.size() > 1 ? format::plural(runs.size(), counted::kRun) : tr("run")));
  checkOne();
}

void RunExport::checkOne() {
  if (runs_.size() != 1) {
    checkedRun_ = 0;
    checking_.drop();
    const QString reason = runs_.isEmpty() ? tr("no run is selected") : tr("one run at a time");
    return take({{}, reason, reason});
  }
  if (checkedRun_ == runs_.first()) {
    take(checked_);
  } else {
    weights_->setEnabled(false);
    file_->setEnabled(false);
  }
  if (checkedRun_ == runs_.first() && !std::exchange(isOld_, false)) return;
  session_.read(
      checking_,
      [id = runs_.first()](storage::Reader& reader) -> Result<Checked> {
        const auto run = reader.run(id);
        if (!run) return fail(run);
        Checked checked{QString::fromStdString(run->summary.name), {}, {}};
        if (!storage::has_ended(run->summary.state)) checked.fileReason = tr("it has not ended");
        if (const auto weights = workbench::newest_weights(*run); !weights)
          checked.weightsReason = QString::fromStdString(weights.error().message);
        return checked;
      },
      [this, id = runs_.first()](const Result<Checked>& checked) {
        checkedRun_ = id;
        const QString error = checked ? QString() : QString::fromStdString(checked.error().message);
        checked_ = checked.value_or(Checked{{}, error, error});
        take(checked_);
      });
}

void RunExport::take(const Checked& checked) {
  allow(weights_, tr("Export weights"), checked.weightsReason);
  allow(file_, tr("Save as one file"), checked.fileReason);
}

void RunExport::exportRuns() {
  const QString folder = FileDialog::folder(page_, tr("The folder to export into"));
  if (folder.isEmpty()) return;
  session_.act(
      exporting_,
      [runs = runs_, folder = folder.toStdString(),
       path = session_.storePath().toStdString()](workbench::Workbench&) -> Result<> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        for (const qint64 id : runs) {
          const auto run = reader->run(id);
          if (!run) return fail(run);
          const auto done = storage::export_run(*reader, id, folder + '/' + run->summary.name);
          if (!done) return fail(done);
        }
        return {};
      },
      [this, folder](const Result<>& done) {
        if (!done) return say(QString::fromStdString(done.error().message), Tone::bad);
        say(tr("Exported to %1").arg(folder), Tone::good);
      });
}

void RunExport::exportWeights() {
  const QString folder = FileDialog::folder(page_, tr("The folder to export into"));
  if (folder.isEmpty()) return;
  session_.act(
      converting_,
      [id = runs_.first(), folder = folder.toStdString(),
       path = session_.storePath().toStdString()](
          workbench::Workbench&) -> Result<workbench::ExportedWeights> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        const auto run = reader->run(id);
        if (!run) return fail(run);
        return workbench::export_weights(*run, folder);
      },
      [this](const Result<workbench::ExportedWeights>& to) {
        if (!to) return say(QString::fromStdString(to.error().message), Tone::bad);
        QString text = tr("Exported to %1").arg(QString::fromStdString(to->folder));
        for (const std::string& note : to->notes) text += "; " + QString::fromStdString(note);
        say(text, to->notes.empty() ? Tone::good : Tone::warn);
      });
}

void RunExport::exportFile() {
  const QString ending = QString::fromLatin1(workbench::kRunFile);
  QString name = checked_.name;
  name.replace(QLatin1Char('/'), QLatin1Char('_'));
  QString file = FileDialog::newFile(page_, tr("Save %1 as one file").arg(checked_.name),
                                     FileDialog::lastFolder() + QLatin1Char('/') + name + ending,
                                     tr("Run files (*%1)").arg(ending));
  if (file.isEmpty()) return;
  if (!file.endsWith(ending)) file += ending;
  session_.act(
      packing_,
      [id = runs_.first(), file = file.toStdString(),
       path = session_.storePath().toStdString()](workbench::Workbench&) -> Result<> {
        auto reader = storage::Reader::open(path);
        if (!reader) return fail(reader);
        const auto run = reader->run(id);
        if (!run) return fail(run);
        return workbench::export_run_file(path, run->summary, file);
      },
      [this, file](const Result<>& done) {
        if (!done) return say(QString::fromStdString(done.error().message), Tone::bad);
        say(tr("Saved %1").arg(file), Tone::good);
      });
}

}  // namespace heddle::gui
