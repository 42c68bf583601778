#include "gui/views/lineage/job_dialog.h"

#include <QGridLayout>

#include "gui/format.h"
#include "gui/models/value.h"
#include "gui/views/lineage/run_asking.h"
#include "storage/job.h"
#include "workbench/control.h"

namespace heddle::gui {
namespace {

using Hold = workbench::JobChange::Hold;

/// "job 12"; "its job" before the follower has seen the number.
QString jobOf(const storage::RunDetail& run) {
  const auto found = run.environment.find(storage::kJob);
  const auto* number =
      found == run.environment.end() ? nullptr : std::get_if<std::string>(&found->second);
  return number ? JobDialog::tr("job %1").arg(QString::fromStdString(*number))
                : JobDialog::tr("its job");
}

}  // namespace

JobDialog::JobDialog(Session& session, const storage::RunDetail& run, QWidget* parent)
    : Dialog(tr("The job of %1").arg(format::shortName(run.summary.name)), QStringLiteral("more"),
             Tone::muted, parent),
      session_(session),
      run_(run),
      job_(jobOf(run)),
      asking_(session.workingThreads(), this) {
  setObjectName(QStringLiteral("jobDialog"));
  setAttribute(Qt::WA_DeleteOnClose);
  words_ = label(tr("On %1, %2 %3.")
                     .arg(QString::fromStdString(run.summary.target), job_,
                          QString::fromStdString(run.summary.cause)));
  words_->setObjectName(QStringLiteral("jobWaits"));
  words_->setWordWrap(true);
  body()->addWidget(words_);
  makeFields();
  outcome_ = label({});
  outcome_->setObjectName(QStringLiteral("jobOutcome"));
  outcome_->setWordWrap(true);
  outcome_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  outcome_->setMinimumHeight(36);
  outcome_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  body()->addWidget(outcome_);
  const auto button = [this](QPushButton* made, const QString& id) {
    made->setObjectName(id);
    addButton(made);
    buttons_.append(made);
    return made;
  };
  auto* close = quietButton(tr("Close"));
  close->setObjectName(QStringLiteral("cancel"));
  addButton(close);
  auto* hold = button(quietButton(tr("Hold")), QStringLiteral("holdJob"));
  hold->setToolTip(tr("It keeps its place in Slurm and does not start before it is released"));
  auto* release = button(quietButton(tr("Release")), QStringLiteral("releaseJob"));
  change_ = button(primaryButton(tr("Change")), QStringLiteral("changeJob"));
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  connect(hold, &QPushButton::clicked, this,
          [this] { ask({.hold = Hold::hold}, tr("%1 is held").arg(job_)); });
  connect(release, &QPushButton::clicked, this,
          [this] { ask({.hold = Hold::release}, tr("%1 is released").arg(job_)); });
  connect(change_, &QPushButton::clicked, this,
          [this] { ask(changes(), tr("%1 is changed").arg(job_)); });
  showChanges();
}

void JobDialog::makeFields() {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 1);
  const auto place = [&](int row, int column, const QString& id, const QString& text,
                         QWidget* field) {
    field->setObjectName(id);
    grid->addWidget(fieldLabel(text, field), row, column);
    grid->addWidget(field, row, column + 1);
  };
  const auto text = [&](const QString& placeholder) {
    auto* field = new QLineEdit;
    field->setPlaceholderText(placeholder);
    connect(field, &QLineEdit::textChanged, this, &JobDialog::showChanges);
    return field;
  };
  time_ = text(tr("as it is; 4:00:00 or 2-12"));
  partition_ = text(tr("as it is"));
  qos_ = text(tr("as it is"));
  nice_ = new QSpinBox;
  nice_->setRange(-1, workbench::kMaxNice);
  nice_->setSpecialValueText(tr("as it is"));
  nice_->setValue(-1);
  nice_->setToolTip(tr("The higher, the later it begins; 0: like other jobs"));
  connect(nice_, &QSpinBox::valueChanged, this, &JobDialog::showChanges);
  place(0, 0, QStringLiteral("jobTime"), tr("time limit"), time_);
  place(0, 2, QStringLiteral("jobPartition"), tr("partition"), partition_);
  place(1, 0, QStringLiteral("jobQos"), tr("QOS"), qos_);
  place(1, 2, QStringLiteral("jobNice"), tr("nice"), nice_);
  body()->addLayout(grid);
}

workbench::JobChange JobDialog::changes() const {
  const auto text = [](const QLineEdit* field) { return field->text().trimmed().toStdString(); };
  workbench::JobChange change{
      .time_limit = text(time_), .partition = text(partition_), .qos = text(qos_)};
  if (nice_->value() >= 0) change.nice = nice_->value();
  return change;
}

void JobDialog::showChanges() {
  const workbench::JobChange change = changes();
  change_->setEnabled(!change.time_limit.empty() || !change.partition.empty() ||
                      !change.qos.empty() || change.nice);
}

void JobDialog::ask(const workbench::JobChange& change, const QString& done) {
  for (QPushButton* button : std::as_const(buttons_)) button->setEnabled(false);
  say(tr("Asking Slurm …"), Tone::muted);
  session_.act(
      asking_,
      [run = run_, change](workbench::Workbench&) { return workbench::change_job(run, change); },
      [this, done](const Result<>& changed) {
        for (QPushButton* button : std::as_const(buttons_)) button->setEnabled(true);
        showChanges();
        if (!changed) return say(QString::fromStdString(changed.error().message), Tone::bad);
        Q_EMIT session_.message(tr("%1: %2").arg(format::shortName(run_.summary.name), done),
                                Tone::good, subjectOf(run_.summary.id));
        accept();
      });
}

void JobDialog::say(const QString& text, Tone tone) {
  outcome_->setText(text);
  setTone(outcome_, tone == Tone::bad ? "bad" : "muted");
}

}  // namespace heddle::gui
