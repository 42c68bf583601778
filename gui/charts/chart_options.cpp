#include "gui/charts/chart_options.h"

#include <QGridLayout>
#include <QScreen>
#include <algorithm>
#include <array>

#include "gui/charts/metric_names.h"
#include "gui/format.h"
#include "gui/session.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr int kOptionsWidth = 340;
constexpr std::array kHalfLives = {0.0,   1.0,   2.0,   5.0,    10.0,   20.0,   50.0,
                                   100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0, 10000.0};

int placeOf(double halfLife) {
  const auto* place = std::ranges::lower_bound(kHalfLives, halfLife);
  return static_cast<int>(
      std::min<ptrdiff_t>(place - kHalfLives.begin(), std::ssize(kHalfLives) - 1));
}

}  // namespace

ChartOptions::ChartOptions(MetricChart& chart)
    : QFrame(&chart, Qt::Popup),
      chart_(chart),
      naming_(chart.session().readingThread(), this),
      scale_(chart.yUnit().scale) {
  setObjectName(QStringLiteral("chartOptions"));
  setProperty("role", "popup");
  setAttribute(Qt::WA_DeleteOnClose);
  setAccessibleName(tr("Options of %1").arg(chart.title()));
  auto* column = columnOf(this, {16, 12, 16, 12}, 8);
  column->addWidget(section(chart.title()));
  auto* form = new QGridLayout;
  form->setHorizontalSpacing(12);
  form->setVerticalSpacing(8);
  form->setColumnStretch(1, 1);
  column->addLayout(form);
  addAxes(*form);
  addCurves(*form);
  addHelp();
  auto* forAll = linkButton(tr("Use x and smoothing in all charts"));
  connect(forAll, &QPushButton::clicked, this, &ChartOptions::forAllWanted);
  column->addWidget(forAll, 0, Qt::AlignLeft);
  setFixedWidth(kOptionsWidth);
  showSmoothing();
}

void ChartOptions::addAxes(QGridLayout& form) {
  const ChartSpec& spec = chart_.spec();
  x_ = new QComboBox;
  x_->addItems(chartXWords());
  offer(spec.x == ChartX::metric ? std::vector{spec.xMetric} : std::vector<std::string>());
  chart_.session().read(
      naming_,
      [runs = chart_.runs()](storage::Reader& reader) { return readMetrics(reader, runs); },
      [this](const Result<std::vector<std::string>>& names) {
        if (names) offer(*names);
      });
  x_->setAccessibleName(tr("x"));
  logX_ = new QCheckBox(tr("logarithmic x"));
  logX_->setChecked(spec.logX);
  logY_ = new QCheckBox(tr("logarithmic y"));
  logY_->setChecked(spec.logY);
  outliers_ = new QCheckBox(tr("ignore outliers"));
  outliers_->setToolTip(
      tr("The y axis leaves out the highest and the lowest percent of the values"));
  outliers_->setChecked(spec.ignoresOutliers);
  low_ = new QLineEdit;
  low_->setAccessibleName(tr("lowest y"));
  high_ = new QLineEdit;
  high_->setAccessibleName(tr("highest y"));
  for (const auto& [field, limit] : {std::pair(low_, spec.limits.low), {high_, spec.limits.high}}) {
    field->setPlaceholderText(tr("automatic"));
    field->setToolTip(tr("A number, such as 2.5; empty: automatic"));
    if (limit) field->setText(QString::number(*limit / scale_, 'g', 6));
    connect(field, &QLineEdit::textChanged, this, &ChartOptions::apply);
  }
  const QString unit = chart_.yUnit().name;
  auto* limits = new QHBoxLayout;
  limits->addWidget(low_);
  limits->addWidget(muted(tr("to")));
  limits->addWidget(high_);
  if (!unit.isEmpty()) limits->addWidget(muted(unit));
  form.addWidget(fieldLabel(tr("x"), x_), 0, 0);
  form.addWidget(x_, 0, 1);
  form.addWidget(fieldLabel(tr("y"), low_), 1, 0);
  form.addLayout(limits, 1, 1);
  form.addWidget(logX_, 2, 1);
  form.addWidget(logY_, 3, 1);
  form.addWidget(outliers_, 4, 1);
  connect(x_, &QComboBox::activated, this, &ChartOptions::apply);
  for (QCheckBox* box : {logX_, logY_, outliers_})
    connect(box, &QCheckBox::toggled, this, &ChartOptions::apply);
}

/// After the axes that every run has: the metrics that are not there yet.
void ChartOptions::offer(const std::vector<std::string>& metrics) {
  const ChartSpec& spec = chart_.spec();
  for (const std::string& metric : metrics)
    if (const QString name = QString::fromStdString(metric);
        metric != spec.metric && x_->findData(name) < 0)
      x_->addItem(textOfMetric(metric), name);
  x_->setCurrentIndex(spec.x == ChartX::metric
                          ? std::max(0, x_->findData(QString::fromStdString(spec.xMetric)))
                          : static_cast<int>(spec.x));
}

void ChartOptions::addCurves(QGridLayout& form) {
  const ChartSpec& spec = chart_.spec();
  smoothing_ = new QSlider(Qt::Horizontal);
  smoothing_->setRange(0, static_cast<int>(kHalfLives.size()) - 1);
  smoothing_->setPageStep(1);
  smoothing_->setValue(placeOf(spec.smoothing));
  smoothing_->setAccessibleName(tr("smoothing"));
  halfLife_ = muted({});
  rank_ = new QComboBox;
  rank_->addItem(tr("all ranks as one"), kAllRanks);
  rank_->addItem(tr("each rank"), kEachRank);
  for (const int32_t rank : chart_.ranks()) rank_->addItem(tr("rank %1").arg(rank), rank);
  rank_->setCurrentIndex(std::max(0, rank_->findData(spec.rank)));
  rank_->setAccessibleName(tr("ranks"));
  band_ = new QCheckBox(tr("lowest to highest as a band"));
  band_->setChecked(spec.band);
  band_->setToolTip(
      tr("The samples of each pixel are filled from the lowest to the highest, however many runs "
         "there are"));
  groups_ = new QCheckBox(tr("groups as mean and range"));
  groups_->setChecked(spec.aggregate);
  groups_->setEnabled(chart_.hasGroups());
  groups_->setToolTip(
      tr("Runs of one group are drawn as their mean, between the lowest and the highest"));
  difference_ = new QCheckBox(tr("difference from the baseline"));
  difference_->setChecked(spec.difference);
  difference_->setEnabled(chart_.hasBaseline() || spec.difference);
  form.addWidget(fieldLabel(tr("smoothing"), smoothing_), 5, 0);
  form.addWidget(smoothing_, 5, 1);
  form.addWidget(halfLife_, 6, 1);
  form.addWidget(fieldLabel(tr("ranks"), rank_), 7, 0);
  form.addWidget(rank_, 7, 1);
  form.addWidget(band_, 8, 1);
  form.addWidget(groups_, 9, 1);
  form.addWidget(difference_, 10, 1);
  connect(smoothing_, &QSlider::valueChanged, this, &ChartOptions::apply);
  connect(rank_, &QComboBox::activated, this, &ChartOptions::apply);
  for (QCheckBox* box : {band_, groups_, difference_})
    connect(box, &QCheckBox::toggled, this, &ChartOptions::apply);
}

void ChartOptions::addHelp() {
  x_->setToolTip(
      tr("The x-axis. Tokens: the number that the run has trained on; time: since the run's "
         "first step; a metric, such as the epoch: where it grows"));
  logX_->setToolTip(tr("Equal distances are equal factors; values at 0 and below are not drawn"));
  logY_->setToolTip(logX_->toolTip());
  smoothing_->setToolTip(tr(
      "An exponential mean over every sample, drawn over the raw curve; all the way to the left: "
      "none"));
  rank_->setToolTip(
      tr("As one: the first rank's value, the sum, the mean or the highest, as fits the metric"));
  difference_->setToolTip(
      tr("The curve less the baseline's at the same x. Compare's chips and table choose the "
         "baseline"));
}

void ChartOptions::open(QWidget* at) {
  adjustSize();
  const QRect room = at->screen()->availableGeometry();
  QPoint where = at->mapToGlobal(QPoint(at->width() - width(), at->height() + 4));
  if (where.y() + height() > room.bottom())
    where.setY(std::max(room.top(), room.bottom() - height()));
  where.setX(std::clamp(where.x(), room.left(), std::max(room.left(), room.right() - width())));
  move(where);
  show();
  x_->setFocus();
}

/// None: the field is empty, or its text is no number, which is marked.
std::optional<double> ChartOptions::limit(QLineEdit* field) const {
  bool isNumber = false;
  const double value = field->text().trimmed().toDouble(&isNumber);
  const bool good = field->text().trimmed().isEmpty() || isNumber;
  setTone(field, good ? "" : "bad");
  field->setToolTip(tr("A number, such as 2.5; empty: automatic"));
  return isNumber ? std::optional(value * scale_) : std::nullopt;
}

void ChartOptions::showSmoothing() {
  const double halfLife = chart_.spec().smoothing;
  halfLife_->setText(halfLife > 0 ? tr("a sample counts half after %1")
                                        .arg(format::plural(std::llround(halfLife), counted::kStep))
                                  : tr("none"));
}

void ChartOptions::apply() {
  ChartSpec spec = chart_.spec();
  spec.xMetric = x_->currentData().toString().toStdString();
  spec.x = spec.xMetric.empty() ? static_cast<ChartX>(x_->currentIndex()) : ChartX::metric;
  if (placeOf(spec.smoothing) != smoothing_->value())
    spec.smoothing = kHalfLives[static_cast<size_t>(smoothing_->value())];
  spec.logX = logX_->isChecked();
  spec.logY = logY_->isChecked();
  spec.ignoresOutliers = outliers_->isChecked();
  spec.limits = {limit(low_), limit(high_)};
  spec.rank = rank_->currentData().toInt();
  spec.band = band_->isChecked();
  spec.aggregate = groups_->isChecked();
  spec.difference = difference_->isChecked();
  chart_.setSpec(std::move(spec));
  showSmoothing();
}

}  // namespace heddle::gui
