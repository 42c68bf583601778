#include "gui/views/targets/target_facts.h"

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/views/targets/job_fields.h"

namespace heddle::gui {

TargetFacts::TargetFacts(QWidget* parent) : QFrame(parent) {
  setProperty("role", "drawer");
  title_ = heading({});
  rows_ = new QGridLayout;
  rows_->setHorizontalSpacing(12);
  rows_->setVerticalSpacing(6);
  rows_->setColumnStretch(1, 1);
  edit_ = quietButton(tr("Edit target"), QStringLiteral("compose"));
  edit_->setObjectName(QStringLiteral("editTarget"));
  connect(edit_, &QPushButton::clicked, this, &TargetFacts::editRequested);
  remove_ = dangerButton(tr("Remove target"), QStringLiteral("trash"));
  remove_->setObjectName(QStringLiteral("removeTarget"));
  connect(remove_, &QPushButton::clicked, this, &TargetFacts::removeRequested);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(20, 16, 20, 16);
  layout->setSpacing(12);
  layout->addWidget(title_);
  layout->addLayout(rows_);
  layout->addSpacing(8);
  layout->addWidget(edit_);
  layout->addWidget(remove_);
  layout->addStretch(1);
}

void TargetFacts::add(const QString& name, const QString& value) {
  auto* text = new ElidedLabel(value, "mono", Qt::ElideMiddle);
  text->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  rows_->addWidget(muted(name), used_, 0);
  rows_->addWidget(text, used_++, 1);
}

/// The fields of the target's jobs, without the unset ones.
void TargetFacts::addJob(const remote::JobRequest& request) {
  const auto addValue = [&](const remote::JobField& field, const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    const QString name = translated(field.label);
    if constexpr (std::is_same_v<Value, int32_t>) {
      if (value > 0) add(name, QString::number(value));
    } else if constexpr (std::is_same_v<Value, std::string>) {
      if (!value.empty()) add(name, QString::fromStdString(value));
      if (value.empty() && field.is_always_a_fact) add(name, translated(field.unset));
    } else {
      for (const std::string& each : value)
        add(QString::fromLatin1(field.option).remove(QLatin1Char('-')),
            QString::fromStdString(each));
    }
  };
  for (const remote::JobField& field : remote::batch_system(request.system)->fields)
    std::visit([&](auto member) { addValue(field, request.*member); }, field.member);
}

void TargetFacts::display(const TargetEntry& entry) {
  clear(rows_);
  used_ = 0;
  title_->setText(tr("Heddle there"));
  if (entry.isThisMachine()) title_->setText(tr("Heddle here"));
  const auto& job = entry.target.job;
  const QString role = job ? translated(remote::batch_system(job->system)->host) : tr("host");
  for (const remote::Host& host : entry.target.hosts) {
    if (entry.isThisMachine()) break;
    if (host.is_this_machine()) {
      add(role, tr("this computer"));
      break;
    }
    add(role, QString::fromStdString(host.address));
    add(tr("user"), host.user.empty() ? tr("yours") : QString::fromStdString(host.user));
    add(tr("port"), QString::number(host.port));
    if (!host.jump.empty()) add(tr("through"), QString::fromStdString(host.jump));
    if (!host.proxy_command.empty()) add(tr("through"), QString::fromStdString(host.proxy_command));
    for (const std::string& file : host.identity_files)
      add(tr("key file"), QString::fromStdString(file));
  }
  for (const remote::Host& spare : entry.target.spares)
    add(tr("spare"), QString::fromStdString(spare.address));
  if (job) addJob(*job);
  if (entry.target.public_addresses) add(tr("ranks listen on"), tr("public addresses, too"));
  add(tr("folder"), QString::fromStdString(entry.target.root));
  if (!entry.target.data_root.empty())
    add(tr("data"), QString::fromStdString(entry.target.data_root));
  if (!entry.target.prelude.empty())
    add(tr("prelude"), QString::fromStdString(entry.target.prelude));
  if (!entry.target.container.empty())
    add(tr("container"), QString::fromStdString(entry.target.container));
  if (entry.report) {
    add(tr("free there"), format::bytes(double(entry.report->free_disk_bytes)));
    for (const probe::Gpu& gpu : entry.report->gpus)
      add(QString::fromStdString(gpu.name), format::bytes(double(gpu.memory_bytes)));
  }
  for (const remote::AcceptedKey& key : entry.target.accepted_keys)
    add(tr("saved key"), QString::fromStdString(key.fingerprint));
  const bool mine = !entry.isThisMachine() && !entry.offered;
  edit_->setVisible(mine);
  edit_->setEnabled(!entry.busy);
  remove_->setVisible(mine);
}

}  // namespace heddle::gui
