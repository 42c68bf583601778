#include "gui/views/targets/slurm_fields.h"

#include <QGridLayout>

#include "gui/widgets/basics.h"

namespace heddle::gui {

SlurmFields::SlurmFields(QWidget* parent) : QWidget(parent) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(8);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 1);
  const auto place = [&](int row, int column, const QString& id, const QString& text,
                         QWidget* field, int columns = 1) {
    field->setObjectName(id);
    QLabel* name = fieldLabel(text, field);
    if (column == 0) name->setMinimumWidth(96);
    grid->addWidget(name, row, column);
    grid->addWidget(field, row, column + 1, 1, columns);
  };
  const auto text = [&](const QString& placeholder) {
    auto* field = new QLineEdit;
    field->setPlaceholderText(placeholder);
    connect(field, &QLineEdit::textChanged, this, &SlurmFields::changed);
    return field;
  };
  const auto number = [&](int low, int high, const QString& none) {
    auto* field = new QSpinBox;
    field->setRange(low, high);
    field->setSpecialValueText(none);
    connect(field, &QSpinBox::valueChanged, this, &SlurmFields::changed);
    return field;
  };
  partition_ = text(tr("the default one"));
  nodes_ = number(1, 10'000, {});
  account_ = text(tr("yours"));
  gpus_ = number(0, 64, tr("none"));
  qos_ = text(tr("the default one"));
  cpus_ = number(0, 10'000, tr("one a rank"));
  time_ = text(tr("4:00:00 or 2-12"));
  options_ = text(tr("--mem=0 --constraint=a100"));
  options_->setToolTip(tr("Further options of sbatch, by spaces: --NAME or --NAME=VALUE each"));
  place(0, 0, QStringLiteral("partition"), tr("partition"), partition_);
  place(0, 2, QStringLiteral("nodes"), tr("nodes"), nodes_);
  place(1, 0, QStringLiteral("account"), tr("account"), account_);
  place(1, 2, QStringLiteral("gpusPerNode"), tr("GPUs a node"), gpus_);
  place(2, 0, QStringLiteral("qos"), tr("QOS"), qos_);
  place(2, 2, QStringLiteral("cpusPerNode"), tr("CPUs a node"), cpus_);
  place(3, 0, QStringLiteral("timeLimit"), tr("time limit"), time_);
  place(4, 0, QStringLiteral("sbatchOptions"), tr("options"), options_, 3);
}

void SlurmFields::fill(const remote::Slurm& slurm) {
  partition_->setText(QString::fromStdString(slurm.partition));
  account_->setText(QString::fromStdString(slurm.account));
  qos_->setText(QString::fromStdString(slurm.qos));
  time_->setText(QString::fromStdString(slurm.time_limit));
  nodes_->setValue(slurm.nodes);
  gpus_->setValue(slurm.gpus_per_node);
  cpus_->setValue(slurm.cpus_per_node);
  QStringList options;
  for (const std::string& option : slurm.options) options << QString::fromStdString(option);
  options_->setText(options.join(QLatin1Char(' ')));
}

remote::Slurm SlurmFields::slurm() const {
  const auto text = [](const QLineEdit* field) { return field->text().trimmed().toStdString(); };
  remote::Slurm slurm;
  slurm.partition = text(partition_);
  slurm.account = text(account_);
  slurm.qos = text(qos_);
  slurm.time_limit = text(time_);
  slurm.nodes = nodes_->value();
  slurm.gpus_per_node = gpus_->value();
  slurm.cpus_per_node = cpus_->value();
  for (const QString& option : options_->text().split(QLatin1Char(' '), Qt::SkipEmptyParts))
    slurm.options.push_back(option.toStdString());
  return slurm;
}

}  // namespace heddle::gui
