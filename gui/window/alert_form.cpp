#include "gui/window/alert_form.h"

#include <QHBoxLayout>

#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kSaveMilliseconds = 300, kNumberWidth = 96;
constexpr double kPercent = 100;

using Rules = workbench::AlertRules;

/// A number with the digits that it needs: 8, 0.5.
class ShortNumber : public QDoubleSpinBox {
 public:
  explicit ShortNumber(double most) {
    setDecimals(3);
    setRange(0.001, most);
    setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  }
  QString textFromValue(double value) const override { return QString::number(value, 'g', 10); }
};

}  // namespace

AlertForm::AlertForm(Session& session, PreferenceList& list) : QObject(&list), session_(session) {
  notFinite_ = new QCheckBox(tr("warn when it is not a number, or infinite"));
  notFinite_->setObjectName(QStringLiteral("alert-not_finite"));
  notFinite_->setAccessibleName(tr("Loss not finite"));
  notFinite_->setToolTip(tr("In any step; training seldom recovers from it"));
  connect(notFinite_, &QCheckBox::toggled, this, &AlertForm::edited);
  list.addRow(tr("Loss not finite"), notFinite_);
  addRule(list, tr("Loss spike"), tr("from"), tr("deviations above the median"),
          tr("Of the 64 steps before"), &Rules::spike, 1, 1e6);
  addRule(list, tr("Throughput fell"), tr("by"), tr("% below the run's own"),
          tr("The median of 8 steps, compared with all steps before"), &Rules::slower, kPercent,
          100);
  addRule(list, tr("Memory near the limit"), tr("from"), tr("% of the host's or the GPU's memory"),
          tr("All ranks of a host together; not a GPU's memory"), &Rules::memory, kPercent, 100);
  addRule(list, tr("No step"), tr("for"), tr("s"),
          tr("At least ten usual steps; 15 min before the first one"), &Rules::silence, 1, 1e6);
  fault_ = label({}, "error");
  fault_->setObjectName(QStringLiteral("alertFault"));
  fault_->setWordWrap(true);
  fault_->hide();
  reset_ = quietButton(tr("Usual rules"));
  reset_->setObjectName(QStringLiteral("resetAlerts"));
  reset_->setToolTip(tr("All five rules as they are when nobody has changed them"));
  connect(reset_, &QPushButton::clicked, this, &AlertForm::reset);
  auto* foot = new QWidget;
  QHBoxLayout* row = rowOf(foot, {}, 12);
  row->addWidget(reset_);
  row->addWidget(fault_, 1);
  row->addStretch(0);
  list.addRow({}, foot);
  saving_.setSingleShot(true);
  saving_.setInterval(kSaveMilliseconds);
  connect(&saving_, &QTimer::timeout, this, &AlertForm::save);
  allow(false);
  reading_.start([] { return workbench::read_alert_rules(workbench::alert_rules_path()); },
                 [this](const Result<Rules>& rules) {
                   allow(rules.has_value());
                   display(rules.value_or(Rules{}));
                   if (!rules) fault_->setText(QString::fromStdString(rules.error().message));
                   fault_->setVisible(!rules);
                 });
}

AlertForm::~AlertForm() {
  // The job drops what it has not begun.
  if (saving_.isActive() || writing_.running())
    files_.post([rules = shown()] {
      (void)workbench::write_alert_rules(workbench::alert_rules_path(), rules);
    });
}

void AlertForm::addRule(PreferenceList& list, const QString& title, const QString& before,
                        const QString& after, const QString& note, double Rules::*value,
                        double scale, double most) {
  auto* whole = new QWidget;
  QHBoxLayout* row = rowOf(whole, {}, 8);
  auto* on = new QCheckBox(before);
  on->setAccessibleName(title);
  auto* number = new ShortNumber(most);
  number->setAccessibleName(tr("%1, %2").arg(title, after));
  number->setFixedWidth(kNumberWidth);
  number->setObjectName(QStringLiteral("alert-%1").arg(rules_.size()));
  row->addWidget(on);
  row->addWidget(number);
  row->addWidget(muted(after));
  list.addRow(title, whole, note);
  connect(on, &QCheckBox::toggled, number, &QWidget::setEnabled);
  connect(on, &QCheckBox::toggled, this, &AlertForm::edited);
  connect(number, &QDoubleSpinBox::valueChanged, this, &AlertForm::edited);
  rules_.push_back({value, scale, on, number});
}

void AlertForm::allow(bool allowed) {
  notFinite_->setEnabled(allowed);
  for (const Rule& rule : rules_) {
    rule.on->setEnabled(allowed);
    rule.number->setEnabled(allowed && rule.on->isChecked());
  }
}

void AlertForm::display(const Rules& rules) {
  displaying_ = true;
  notFinite_->setChecked(rules.not_finite);
  for (const Rule& rule : rules_) {
    const double value = rules.*rule.value;
    // A rule that is off shows what it would be.
    rule.number->setValue((value > 0 ? value : Rules{}.*rule.value) * rule.scale);
    rule.on->setChecked(value > 0);
    rule.number->setEnabled(value > 0 && rule.on->isEnabled());
  }
  displaying_ = false;
}

Rules AlertForm::shown() const {
  Rules rules;
  rules.not_finite = notFinite_->isChecked();
  for (const Rule& rule : rules_)
    rules.*rule.value = rule.on->isChecked() ? rule.number->value() / rule.scale : 0;
  return rules;
}

void AlertForm::edited() {
  if (!displaying_) saving_.start();
}

void AlertForm::save() {
  saving_.stop();
  writing_.add(
      [rules = shown()] {
        return workbench::write_alert_rules(workbench::alert_rules_path(), rules);
      },
      [this](const Result<>& written) {
        if (!written)
          Q_EMIT session_.message(QString::fromStdString(written.error().message), Tone::bad);
      });
}

void AlertForm::reset() {
  fault_->hide();
  allow(true);
  display({});
  save();
}

}  // namespace heddle::gui
