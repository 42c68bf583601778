#include "gui/views/lineage/end_dialog.h"

#include "gui/format.h"
#include "workbench/ending.h"

namespace heddle::gui {

EndDialog::EndDialog(Session& session, const storage::RunDetail& run, How how, QWidget* parent)
    : Dialog(how == How::kill ? tr("Kill %1?").arg(format::shortName(run.summary.name))
                              : tr("Stop %1 and lose it?").arg(format::shortName(run.summary.name)),
             QStringLiteral("warning"), Tone::warn, parent),
      looking_(session.workingThreads(), this) {
  setObjectName(how == How::kill ? QStringLiteral("confirmKill") : QStringLiteral("confirmStop"));
  setAttribute(Qt::WA_DeleteOnClose);
  words_ = label({});
  words_->setObjectName(QStringLiteral("loss"));
  words_->setWordWrap(true);
  words_->setMinimumHeight(54);
  words_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  body()->addWidget(words_);
  QPushButton* cancel = quietButton(tr("Cancel"));
  cancel->setObjectName(QStringLiteral("cancel"));
  QPushButton* end = dangerButton(how == How::kill ? tr("Kill") : tr("Stop and lose it"));
  end->setObjectName(QStringLiteral("end"));
  addButton(cancel);
  addButton(end);
  cancel->setDefault(true);
  cancel->setFocus();
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(end, &QPushButton::clicked, this, [this] {
    Q_EMIT confirmed();
    accept();
  });
  if (how == How::stop) {
    words_->setText(QString::fromStdString(workbench::describe_stop(run)));
    return;
  }
  words_->setText(tr("All ranks end at once. Training since the newest checkpoint is lost …"));
  looking_.start(
      [run] { return workbench::describe_kill(run); },
      [this](const std::string& words) { words_->setText(QString::fromStdString(words)); });
}

}  // namespace heddle::gui
