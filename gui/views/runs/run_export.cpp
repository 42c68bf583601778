#include "gui/views/runs/run_export.h"

#include <utility>

#include "gui/format.h"
#include "gui/widgets/file_dialog.h"
#include "gui/widgets/why_not.h"
#include "storage/export.h"
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
      checking_(session.readingThread(), this) {
  export_ = new QAction(icon(QStringLiteral("download")), tr("Export run"), this);
  export_->setObjectName(QStringLiteral("exportRuns"));
  weights_ = new QAction(icon(QStringLiteral("checkpoint")), tr("Export weights"), this);
  weights_->setObjectName(QStringLiteral("exportWeights"));
  setWhyNot(export_, tr("choose a run first"));
  weights_->setToolTip(tr("The newest checkpoint, as a folder that transformers loads"));
  connect(export_, &QAction::triggered, this, &RunExport::exportRuns);
  connect(weights_, &QAction::triggered, this, &RunExport::exportWeights);
}

void RunExport::describe(const QList<qint64>& runs) {
  runs_ = runs;
  export_->setEnabled(!runs.isEmpty());
  export_->setText(
      tr("Export %1")
          .arg(runs.size() > 1 ? format::plural(runs.size(), counted::kRun) : tr("run")));
  checkWeights();
}

void RunExport::checkWeights() {
  const QString text = tr("Export weights");
  if (runs_.size() != 1) {
    checked_ = 0;
    checking_.drop();
    return allow(weights_, text,
                 runs_.isEmpty() ? tr("no run is selected") : tr("one run at a time"));
  }
  if (checked_ == runs_.first())
    allow(weights_, text, weightsReason_);
  else
    weights_->setEnabled(false);
  if (checked_ == runs_.first() && !std::exchange(weightsAreOld_, false)) return;
  session_.read(
      checking_,
      [id = runs_.first()](storage::Reader& reader) -> Result<std::string> {
        const auto run = reader.run(id);
        if (!run) return fail(run);
        return workbench::newest_weights(*run);
      },
      [this, id = runs_.first(), text](const Result<std::string>& checkpoint) {
        checked_ = id;
        weightsReason_ =
            checkpoint ? QString() : QString::fromStdString(checkpoint.error().message);
        allow(weights_, text, weightsReason_);
      });
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

}  // namespace heddle::gui
