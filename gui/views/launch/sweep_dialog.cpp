#include "gui/views/launch/sweep_dialog.h"

#include <QGridLayout>
#include <algorithm>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/widgets/layouts.h"
#include "workbench/halving.h"

namespace heddle::gui {
namespace {

constexpr int kTypingPause = 250;  // milliseconds
constexpr int kSweepWidth = 640, kNamesHeight = 130;

QSpinBox* spin(const QString& name, int low, int high, int value) {
  auto* box = new QSpinBox;
  box->setAccessibleName(name);
  box->setRange(low, high);
  box->setValue(value);
  box->setMinimumWidth(76);
  return box;
}

}  // namespace

SweepDialog::SweepDialog(SweptRecipe recipe, const QString& engine, const SweepChoice& choice,
                         QWidget* parent)
    : Dialog(tr("Sweep"), {}, Tone::accent, parent), recipe_(std::move(recipe)), time_(engine) {
  setObjectName(QStringLiteral("sweepDialog"));
  setMinimumWidth(kSweepWidth);
  QLabel* words =
      muted(tr("Each combination of the values becomes a run of one group; they wait "
               "in the target's queue."));
  words->setWordWrap(true);
  body()->addWidget(words);
  rows_ = new SweepRows(recipe_);
  body()->addWidget(rows_);
  body()->addLayout(makeHow(choice));
  body()->addLayout(makeHalving(choice));
  body()->addWidget(line());
  summary_ = section({});
  summary_->setObjectName(QStringLiteral("summary"));
  summary_->setAccessibleName(tr("Runs and their time"));
  summary_->setWordWrap(true);
  error_ = label({}, "error");
  error_->setObjectName(QStringLiteral("error"));
  error_->setWordWrap(true);
  error_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  names_ = mono({});
  names_->setObjectName(QStringLiteral("names"));
  names_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  body()->addWidget(summary_);
  body()->addWidget(error_);
  QVBoxLayout* room = addRoom(kNamesHeight, 2);
  room->addWidget(names_);
  room->addStretch(1);

  QPushButton* cancel = quietButton(tr("Cancel"));
  use_ = primaryButton(tr("Use this sweep"));
  use_->setObjectName(QStringLiteral("use"));
  addButton(cancel);
  addButton(use_);
  use_->setDefault(true);
  connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
  connect(use_, &QPushButton::clicked, this, [this] {
    if (pause_.isActive()) look();
    if (!use_->isEnabled()) return;
    Q_EMIT chosen(this->choice(), static_cast<qsizetype>(runs_.size()));
    accept();
  });
  rows_->setKeys(choice.keys);
  rows_->focusFirst();
  pause_.setSingleShot(true);
  pause_.setInterval(kTypingPause);
  connect(&pause_, &QTimer::timeout, this, &SweepDialog::look);
  connect(rows_, &SweepRows::changed, this, &SweepDialog::edited);
  connect(&time_, &SweepTime::changed, this, &SweepDialog::showTime);
  look();
}

QLayout* SweepDialog::makeHow(const SweepChoice& choice) {
  how_ = new Segment({tr("all combinations"), tr("random picks")});
  how_->setAccessibleName(tr("How values become runs"));
  how_->button(0)->setToolTip(tr("A run for each combination of all keys' values"));
  how_->button(1)->setToolTip(
      tr("Ranges serve too: 0..0.2, and log(1e-5..1e-3), which picks by order of magnitude"));
  how_->setCurrent(choice.random ? 1 : 0);
  random_ = new QWidget;
  QHBoxLayout* random = rowOf(random_, {}, 8);
  picks_ = spin(tr("Random picks"), 1, static_cast<int>(workbench::kMaxSweepRuns), choice.picks);
  seed_ = spin(tr("Seed of the picks"), 0, 999'999, choice.seed);
  picks_->setToolTip(tr("So many combinations are picked by chance, each of them once"));
  seed_->setToolTip(tr("The same seed picks the same combinations"));
  random->addWidget(muted(tr("runs")));
  random->addWidget(picks_);
  random->addWidget(muted(tr("seed")));
  random->addWidget(seed_);
  random_->setVisible(choice.random);
  atOnce_ = spin(tr("Runs at once"), 1, 64, choice.atOnce);
  atOnce_->setToolTip(tr("A run starts while fewer than this are going on on the target"));
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(how_);
  row->addWidget(random_);
  row->addStretch(1);
  row->addWidget(muted(tr("at once")));
  row->addWidget(atOnce_);
  connect(how_, &Segment::currentChanged, this, [this](int index) {
    random_->setVisible(index == 1);
    edited();
  });
  for (QSpinBox* box : {picks_, seed_, atOnce_})
    connect(box, &QSpinBox::valueChanged, this, &SweepDialog::edited);
  return row;
}

QLayout* SweepDialog::makeHalving(const SweepChoice& choice) {
  halves_ = new QCheckBox(tr("Stop the worst half early, by"));
  halves_->setChecked(!choice.metric.isEmpty());
  halving_ = new QWidget;
  QHBoxLayout* inside = rowOf(halving_, {}, 8);
  metric_ = new QComboBox;
  metric_->setAccessibleName(tr("Metric of the halving"));
  for (const telemetry::Metric& metric : telemetry::metrics())
    if (metric.reporter == telemetry::Reporter::step && metric.better != telemetry::Better::neither)
      metric_->addItem(
          QString::fromUtf8(metric.words.data(), static_cast<qsizetype>(metric.words.size())),
          QString::fromUtf8(metric.name.data(), static_cast<qsizetype>(metric.name.size())));
  if (const int at = metric_->findData(choice.metric); at >= 0) metric_->setCurrentIndex(at);
  keep_ = spin(tr("Runs that train to the end"), 1, 999, choice.keep);
  halves_->setToolTip(
      tr("At some steps the runs are compared, and the worse half of them ends there"));
  metric_->setToolTip(tr("The metric whose last value decides which runs are worse"));
  keep_->setToolTip(tr("So many runs are left to train all steps"));
  inside->addWidget(metric_);
  inside->addWidget(muted(tr("until so many are left:")));
  inside->addWidget(keep_);
  inside->addStretch(1);
  halving_->setEnabled(halves_->isChecked());
  rungs_ = caption({});
  rungs_->setObjectName(QStringLiteral("rungs"));
  rungs_->setWordWrap(true);
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(2);
  grid->addWidget(halves_, 0, 0);
  grid->addWidget(halving_, 0, 1);
  grid->addWidget(rungs_, 1, 0, 1, 2);
  grid->setColumnStretch(1, 1);
  connect(halves_, &QCheckBox::toggled, this, [this](bool on) {
    halving_->setEnabled(on);
    edited();
  });
  connect(metric_, &QComboBox::currentIndexChanged, this, &SweepDialog::edited);
  connect(keep_, &QSpinBox::valueChanged, this, &SweepDialog::edited);
  return grid;
}

SweepChoice SweepDialog::choice() const {
  return {.keys = rows_->keys(),
          .random = how_->current() == 1,
          .picks = picks_->value(),
          .seed = seed_->value(),
          .atOnce = atOnce_->value(),
          .metric = halves_->isChecked() ? metric_->currentData().toString() : QString(),
          .keep = keep_->value()};
}

void SweepDialog::edited() { pause_.start(); }

void SweepDialog::look() {
  pause_.stop();
  const SweepChoice chosen = choice();
  auto runs = runsOf(chosen, recipe_);
  const auto halving =
      runs ? halvingOf(chosen, recipe_, *runs) : Result<storage::Halving>(storage::Halving{});
  rungs_->setText(halving && !halving->rungs.empty()
                      ? QString::fromStdString(workbench::words_of(*halving))
                      : QString());
  rungs_->setVisible(!rungs_->text().isEmpty());
  // An empty field is no mistake yet.
  const bool begun =
      !chosen.keys.isEmpty() && std::ranges::none_of(chosen.keys, [](const SweepChoice::Key& key) {
        return key.key.isEmpty() || key.values.isEmpty();
      });
  const Error* fault = !runs ? &runs.error() : !halving ? &halving.error() : nullptr;
  error_->setText(fault && begun ? QString::fromStdString(fault->message) : QString());
  error_->setVisible(!error_->text().isEmpty());
  runs_ = runs ? std::move(*runs) : std::vector<workbench::SweepRun>();
  use_->setEnabled(!fault);
  QStringList names;
  for (const workbench::SweepRun& run : runs_) names << QString::fromStdString(run.label);
  names_->setText(names.join(QLatin1Char('\n')));
  if (fault)
    time_.forget();
  else
    time_.ask(recipe_, runs_);
  showTime();
}

void SweepDialog::showTime() {
  if (runs_.empty()) return summary_->setText(tr("No runs yet"));
  const QString count = format::plural(static_cast<qint64>(runs_.size()), counted::kRun);
  const auto seconds = time_.seconds();
  const int atOnce = std::min(atOnce_->value(), static_cast<int>(runs_.size()));
  const QString atMost = halves_->isChecked() ? tr("at most ") : QString();
  if (seconds && atOnce == 1)
    summary_->setText(
        tr("%1, one after another: %2%3 predicted").arg(count, atMost, format::seconds(*seconds)));
  else if (seconds)
    summary_->setText(tr("%1, %2 at once: %3%4 predicted if they do not slow each other down")
                          .arg(count)
                          .arg(atOnce)
                          .arg(atMost, format::seconds(*seconds / atOnce)));
  else if (time_.trouble().isEmpty())
    summary_->setText(tr("%1; predicting how long they take …").arg(count));
  else
    summary_->setText(tr("%1; how long they take is not known: %2").arg(count, time_.trouble()));
}

}  // namespace heddle::gui
