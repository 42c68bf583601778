#include "gui/views/targets/host_dialog.h"

#include <QGridLayout>
#include <QRegularExpression>

#include "remote/ssh_config.h"

namespace heddle::gui {
namespace {

/// What the fields say, checked; the error is for the person who types.
Result<remote::Target> targetOf(const QString& name, const QString& hosts, const QString& jump,
                                const QString& key, const QString& root) {
  remote::Target target;
  target.name = name.trimmed().toStdString();
  if (!root.trimmed().isEmpty()) target.root = root.trimmed().toStdString();
  static const QRegularExpression separators(QStringLiteral("[,\\s]+"));
  for (const QString& text : hosts.split(separators, Qt::SkipEmptyParts)) {
    auto host = remote::resolve_host(text.toStdString());
    if (!host) return fail(host);
    if (!jump.trimmed().isEmpty()) host->jump = jump.trimmed().toStdString();
    if (!key.trimmed().isEmpty()) host->identity_file = key.trimmed().toStdString();
    target.hosts.push_back(std::move(*host));
  }
  if (const auto checked = remote::check(target); !checked) return fail(checked);
  return target;
}

}  // namespace

HostDialog::HostDialog(const QStringList& taken, QWidget* parent)
    : Dialog(tr("Add host"), QStringLiteral("targets"), Tone::accent, parent), taken_(taken) {
  setMinimumWidth(520);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  int row = 0;
  const auto add = [&](const QString& id, const QString& text, const QString& placeholder) {
    auto* field = new QLineEdit;
    field->setObjectName(id);
    field->setPlaceholderText(placeholder);
    QLabel* name = fieldLabel(text, field);
    name->setMinimumWidth(96);
    grid->addWidget(name, row, 0);
    grid->addWidget(field, row++, 1);
    connect(field, &QLineEdit::textChanged, this, &HostDialog::check);
    return field;
  };
  hosts_ = add(QStringLiteral("hosts"), tr("host"),
               tr("[user@]host[:port], or a name of ~/.ssh/config; several for a group"));
  name_ = add(QStringLiteral("name"), tr("name"), tr("what this target is called here"));
  jump_ = add(QStringLiteral("jump"), tr("through"),
              tr("[user@]host[:port] to jump through; optional"));
  key_ =
      add(QStringLiteral("key"), tr("key file"), tr("the agent and the keys of ~/.ssh when empty"));
  root_ = add(QStringLiteral("root"), tr("folder there"), QStringLiteral("~/.heddle"));
  body()->addLayout(grid);
  fault_ = label({}, "error");
  fault_->setWordWrap(true);
  fault_->setMinimumHeight(34);
  fault_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  body()->addWidget(fault_);
  QPushButton* cancel = quietButton(tr("Cancel"));
  connect_ = primaryButton(tr("Connect"));
  connect_->setObjectName(QStringLiteral("connect"));
  connect_->setDefault(true);
  addButton(cancel);
  addButton(connect_);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(connect_, &QPushButton::clicked, this, &QDialog::accept);
  connect(hosts_, &QLineEdit::textEdited, this, [this](const QString& text) {
    if (!name_->isModified())
      name_->setText(text.section(QChar('@'), -1).section(QChar(':'), 0, 0).trimmed());
  });
  check();
}

void HostDialog::offer(const remote::Host& host) {
  hosts_->setText(QString::fromStdString(host.name));
  name_->setText(QString::fromStdString(host.name));
  jump_->setText(QString::fromStdString(host.jump));
  key_->setText(QString::fromStdString(host.identity_file));
}

void HostDialog::check() {
  connect_->setEnabled(false);
  fault_->clear();
  if (hosts_->text().trimmed().isEmpty() || name_->text().trimmed().isEmpty()) return;
  if (taken_.contains(name_->text().trimmed()))
    return fault_->setText(tr("name: there is a target %1 already").arg(name_->text().trimmed()));
  auto target = targetOf(name_->text(), hosts_->text(), jump_->text(), key_->text(), root_->text());
  if (!target) return fault_->setText(QString::fromStdString(target.error().message));
  target_ = std::move(*target);
  connect_->setEnabled(true);
}

}  // namespace heddle::gui
