#include "gui/views/launch/run_form.h"

#include <QGridLayout>
#include <QSignalBlocker>

#include "engine/recipe/parse.h"
#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr int kMaxRanks = 4096;

}  // namespace

RunForm::RunForm(QWidget* parent) : QWidget(parent) {
  name_ = new QLineEdit;
  name_->setProperty("role", "mono");
  name_->setObjectName(QStringLiteral("runName"));
  name_->setMaxLength(64);
  name_->setToolTip(tr("The run's name in every list; one that is taken gets a number"));
  ranks_ = new QSpinBox;
  ranks_->setObjectName(QStringLiteral("ranks"));
  ranks_->setRange(1, kMaxRanks);
  ranks_->setMinimumWidth(84);
  ranks_->setToolTip(QString::fromStdString(recipe::find_key("hardware.ranks")->help));
  mode_ = new Segment({tr("planned"), tr("eager")});
  mode_->button(0)->setToolTip(tr("The captured step, planned ahead"));
  mode_->button(1)->setToolTip(tr("The model's code runs step by step: the reference"));
  choose_ = quietButton(tr("Sweep …"), QStringLiteral("plus"));
  choose_->setObjectName(QStringLiteral("sweep"));
  choose_->setToolTip(tr("Several runs with different values, one after another"));
  drop_ = iconButton(QStringLiteral("close"), tr("One run, no sweep"));
  words_ = new ElidedLabel;
  words_->setObjectName(QStringLiteral("sweepWords"));
  waits_ = new QCheckBox;
  waits_->setObjectName(QStringLiteral("wait"));
  auto* sweep = new QHBoxLayout;
  sweep->setSpacing(8);
  sweep->addWidget(choose_);
  sweep->addWidget(words_, 1);
  sweep->addWidget(drop_);
  sweep->addWidget(waits_);
  auto* form = new QGridLayout(this);
  form->setContentsMargins(0, 0, 0, 0);
  form->setHorizontalSpacing(12);
  form->setVerticalSpacing(8);
  form->setColumnStretch(3, 1);
  form->addWidget(fieldLabel(tr("name"), name_), 0, 0);
  form->addWidget(name_, 0, 1, 1, 3);
  form->addWidget(fieldLabel(tr("ranks"), ranks_), 1, 0);
  form->addWidget(ranks_, 1, 1);
  form->addWidget(fieldLabel(tr("mode"), mode_), 1, 2);
  form->addWidget(mode_, 1, 3, Qt::AlignLeft);
  form->addLayout(sweep, 2, 0, 1, 4);
  connect(ranks_, &QSpinBox::valueChanged, this, &RunForm::ranksChanged);
  connect(choose_, &QPushButton::clicked, this, &RunForm::sweepRequested);
  connect(drop_, &QToolButton::clicked, this, [this] {
    choose_->setFocus();
    setSweep({}, 1);
  });
  connect(waits_, &QCheckBox::toggled, this, &RunForm::changed);
  setTarget({});
  showSweep();
}

void RunForm::begin(const QString& name, int ranks) {
  name_->setText(name);
  const QSignalBlocker quiet(ranks_);
  ranks_->setValue(ranks);
  setSweep({}, 1);
}

void RunForm::setFork(bool fork) {
  choose_->setEnabled(!fork);
  waits_->setEnabled(!fork);
  if (fork) waits_->setChecked(false);
}

void RunForm::setTarget(const QString& target) {
  waits_->setText(tr("wait until it is free"));
  waits_->setToolTip(
      target.isEmpty() ? QString() : tr("Starts when no other run is going on on %1").arg(target));
}

void RunForm::setSweep(std::optional<SweepChoice> sweep, qsizetype runs) {
  sweep_ = std::move(sweep);
  runs_ = sweep_ ? runs : 1;
  showSweep();
  Q_EMIT changed();
}

void RunForm::showSweep() {
  words_->setFullText(sweep_ ? wordsOf(*sweep_, static_cast<size_t>(runs_)) : QString());
  words_->setVisible(sweep_.has_value());
  drop_->setVisible(sweep_.has_value());
  waits_->setVisible(!sweep_);
}

}  // namespace heddle::gui
