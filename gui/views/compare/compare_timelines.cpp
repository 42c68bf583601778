#include "gui/views/compare/compare_timelines.h"

#include <QStandardItemModel>
#include <algorithm>
#include <utility>

#include "gui/format.h"
#include "gui/timeline/timeline_legend.h"
#include "gui/timeline/timeline_view.h"
#include "gui/widgets/layouts.h"

namespace heddle::gui {
namespace {

constexpr size_t kMaxBothKinds = 4;  // of more runs only the measured steps are drawn
constexpr int kHeight = 330, kEmptyHeight = 160;
constexpr int kAtChosen = static_cast<int>(AlignedAt::chosen);

QComboBox* control(const QString& name, const QString& objectName) {
  auto* box = new QComboBox;
  box->setProperty("role", "mono");
  box->setObjectName(objectName);
  box->setAccessibleName(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  return box;
}

}  // namespace

CompareTimelines::CompareTimelines(QWidget* parent) : Card(tr("Timelines"), parent) {
  setBodyMargins(0, 0, 0, 0);
  choose_ = quietButton(tr("Choose runs"));
  choose_->setObjectName(QStringLiteral("chooseTimelines"));
  step_ = control(tr("Step"), QStringLiteral("step"));
  rank_ = control(tr("Rank"), QStringLiteral("rank"));
  alignedAt_ = control(tr("Aligned at"), QStringLiteral("alignedAt"));
  alignedAt_->addItems({tr("aligned at its start"), tr("at backward"), tr("at the optimizer"),
                        tr("at the chosen row")});
  alignedAt_->setToolTip(
      tr("What begins at the same place in every timeline. The chosen row is "
         "that of the table below."));
  step_->setToolTip(tr("Steps that all of these runs have profiled"));
  rank_->setToolTip(tr("The rank whose timeline and memory each run shows"));
  allowChosenRow(false);
  for (QComboBox* box : {step_, rank_})
    connect(box, &QComboBox::activated, this, &CompareTimelines::readNeeded);
  connect(alignedAt_, &QComboBox::currentIndexChanged, this, &CompareTimelines::align);
  for (QWidget* each : std::initializer_list<QWidget*>{choose_, step_, rank_, alignedAt_})
    addControl(each);
  auto* view = new TimelineView;
  connect(view, &TimelineView::saved, this, &CompareTimelines::saved);
  timelines_ = view->timeline();
  timelines_->setEmptyText(tr("None of these runs has a profiled step"));
  connect(timelines_, &TimelineWidget::selectionChanged, this, &CompareTimelines::showStatistics);
  statistics_ = new StepStatistics;
  auto* legend = new QWidget;
  QHBoxLayout* head = rowOf(legend, {16, 0, 16, 6});
  head->addWidget(new TimelineLegend, 1);
  head->addWidget(view->tools());
  body()->addWidget(legend);
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  row->addWidget(view, 1);
  row->addWidget(line(Qt::Vertical));
  row->addWidget(statistics_);
  body()->addLayout(row, 1);
}

void CompareTimelines::reset() {
  step_->clear();
  rank_->clear();
}

void CompareTimelines::display(const CompareData& data, const QList<RunStroke>& strokes) {
  showControls(data);
  std::vector<TimelineRow> rows;
  drawn_.clear();
  shownRank_ = data.rank;
  shownStep_ = 0;
  without_ = 0;
  for (const ShownStep& shown : data.steps) {
    const size_t run = data.indexOf(shown.run);
    const QString name = format::spelled(data.comparison->runs[run].name);
    const RunStroke& stroke = strokes[static_cast<qsizetype>(run)];
    const bool plan = isPlanned(shown.run);
    if (!plan && !data.commonSteps.empty()) shownStep_ = shown.facts.steps->step;
    const bool both = shown.facts.timeline && data.steps.size() <= kMaxBothKinds;
    // A prediction comes first, as in the steps below: differences are of the measured from it.
    for (const auto kind : {workbench::Kind::predicted, workbench::Kind::measured}) {
      const bool predicted = kind == workbench::Kind::predicted;
      if (predicted ? !shown.facts.predicted || !(plan || both) : plan) continue;
      TimelineRow row;
      row.title = predicted && !plan ? tr("predicted") : name;
      row.timeline = predicted ? shown.facts.predicted : shown.facts.timeline;
      if (!row.timeline) {
        ++without_;
        continue;
      }
      row.subtitle = format::seconds(double(row.timeline->lengthUs()) / 1e6);
      if (shown.facts.steps) row.plan = shown.facts.steps->plan;
      row.rank = data.rank;
      row.counters = predicted ? shown.predictedCounters : shown.counters;
      row.run = static_cast<int>(rows.size());
      row.color = stroke.color;
      row.marker = stroke.marker;
      drawn_.push_back({{shown.run, kind}, predicted && !plan ? tr("pred.") : name, stroke});
      rows.push_back(std::move(row));
    }
  }
  // Without a row there is but a sentence to show.
  setMinimumHeight(rows.empty() ? kEmptyHeight : kHeight);
  setMaximumHeight(rows.empty() ? kEmptyHeight : QWIDGETSIZE_MAX);
  timelines_->setRows(std::move(rows));
  align();
}

void CompareTimelines::showControls(const CompareData& data) {
  plansAlone_ = data.hasPlansAlone();
  const qlonglong step = step_->currentData().toLongLong();
  step_->clear();
  step_->addItem(tr("newest step"), 0);
  for (auto each = data.commonSteps.rbegin(); each != data.commonSteps.rend(); ++each)
    step_->addItem(tr("step %1").arg(format::count(*each)), QVariant::fromValue<qlonglong>(*each));
  step_->setCurrentIndex(std::max(0, step_->findData(step)));
  step_->setVisible(!plansAlone_ && !data.commonSteps.empty());
  rank_->clear();
  for (const int64_t rank : data.ranks)
    rank_->addItem(tr("rank %1").arg(rank), QVariant::fromValue<qlonglong>(rank));
  rank_->setCurrentIndex(std::max(0, rank_->findData(QVariant::fromValue<qlonglong>(data.rank))));
  rank_->setVisible(data.ranks.size() > 1);
  const auto runs = static_cast<qint64>(data.comparison->runs.size());
  choose_->setText(tr("%1 of %2")
                       .arg(format::count(static_cast<qint64>(data.steps.size())),
                            format::plural(runs, counted::kRun)));
  choose_->setAccessibleName(tr("Runs whose timelines are shown: %1").arg(choose_->text()));
  choose_->setVisible(runs > 2);
}

void CompareTimelines::highlight(const std::optional<StepDifferences::Chosen>& chosen) {
  chosen_ = chosen;
  allowChosenRow(chosen.has_value());
  if (!chosen) {
    timelines_->setHighlight({});
    return timelines_->fit();
  }
  if (alignedAt_->currentIndex() == kAtChosen) align();
  timelines_->setHighlight([chosen = *chosen, drawn = drawn_](size_t row, const auto& span) {
    return row < drawn.size() && chosen.has(drawn[row].side, span);
  });
  timelines_->showFound();
}

void CompareTimelines::allowChosenRow(bool allowed) {
  qobject_cast<QStandardItemModel*>(alignedAt_->model())->item(kAtChosen)->setEnabled(allowed);
  if (!allowed && alignedAt_->currentIndex() == kAtChosen) alignedAt_->setCurrentIndex(0);
}

void CompareTimelines::align() {
  const auto at = static_cast<AlignedAt>(alignedAt_->currentIndex());
  std::vector<TimelineRow> rows = timelines_->rows();
  std::vector<std::optional<int64_t>> anchors;
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto isChosen = [this, row](const telemetry::Span& span) {
      return chosen_ && row < drawn_.size() && chosen_->has(drawn_[row].side, span);
    };
    anchors.push_back(rows[row].timeline ? anchorOf(*rows[row].timeline, at, isChosen)
                                         : std::nullopt);
  }
  const std::vector<int64_t> shifts = shiftsFor(anchors);
  for (size_t row = 0; row < rows.size(); ++row) rows[row].shiftUs = shifts[row];
  timelines_->setRows(std::move(rows));
  setNote(noteOf());
  showStatistics();
}

QString CompareTimelines::noteOf() const {
  const QString rank = tr("rank %1").arg(shownRank_);
  if (plansAlone_) return tr("as predicted, %1").arg(rank);
  const QString shown = shownStep_ > 0 ? tr("step %1, %2").arg(format::count(shownStep_), rank)
                                       : tr("the newest profiled step of each, %1").arg(rank);
  return without_ == 0
             ? shown
             : tr("%1; %2 without one").arg(shown, format::plural(without_, counted::kRun));
}

void CompareTimelines::setBaseline(storage::RunId run) {
  if (std::exchange(baseline_, run) != run) showStatistics();
}

void CompareTimelines::showStatistics() {
  std::vector<StepStatistics::Run> runs;
  std::optional<size_t> baseline;
  for (size_t row = 0; row < drawn_.size(); ++row) {
    if (!timelines_->rows()[row].timeline) continue;
    // The last match is its measured step: the predicted one comes first.
    if (baseline_ != 0 && drawn_[row].side.run == baseline_) baseline = runs.size();
    runs.push_back({drawn_[row].name, drawn_[row].stroke, timelines_->statistics(row)});
  }
  const auto selection = timelines_->selection();
  statistics_->setVisible(!runs.empty());
  statistics_->display(std::move(runs),
                       selection ? std::optional(selection->length()) : std::nullopt, baseline);
}

}  // namespace heddle::gui
