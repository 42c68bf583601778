#include "gui/views/compose/step_panel.h"

#include <QHBoxLayout>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <string_view>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/timeline_legend.h"
#include "gui/views/compose/prediction_words.h"

namespace heddle::gui {
namespace {

constexpr qint64 kAll = -1;
constexpr int kMinHeight = 106;  // a rank's lanes under their axis, without scrolling
constexpr int kRoomForHints = 900, kRoomForSearch = 1200;
constexpr int kStepMargin = 16, kStepSpacing = 12;  // of the head

constexpr int64_t kMicroBatchesAround = 8;  // times a gather, to either side of it

/// Whether a transfer's name, as in "layers.0-1+norm", begins with a module of a bucket.
bool isOf(std::string_view name, std::string_view module) {
  if (!name.starts_with(module)) return false;
  return name.size() == module.size() || name[module.size()] == '-' || name[module.size()] == '+';
}

}  // namespace

StepPanel::StepPanel(RecipePrediction& prediction, QWidget* parent)
    : QFrame(parent), prediction_(prediction) {
  setObjectName(QStringLiteral("predictedTimeline"));
  setProperty("role", "panel");
  head_ = new QHBoxLayout;
  head_->setContentsMargins(kStepMargin, 8, kStepMargin, 4);
  head_->setSpacing(kStepSpacing);
  underHead_ = new QHBoxLayout;
  underHead_->setContentsMargins(kStepMargin, 0, kStepMargin, 0);
  note_ = new ElidedLabel({}, "mono-muted");
  legend_ = new TimelineLegend;
  rank_ = new QComboBox;
  rank_->setObjectName(QStringLiteral("rank"));
  rank_->setAccessibleName(tr("Rank"));
  rank_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  view_ = new TimelineView;
  title_ = heading(tr("Predicted timeline"));
  head_->addWidget(title_);
  head_->addWidget(note_, 1);
  head_->addWidget(legend_);
  head_->addWidget(view_->tools());
  head_->addWidget(rank_);
  rank_->hide();  // until there is a choice
  timeline_ = view_->timeline();
  timeline_->setObjectName(QStringLiteral("predictedSteps"));
  timeline_->setPhaseBand(PhaseBand::firstRow);
  timeline_->setMinimumHeight(kMinHeight);
  notes_ = new ExposedNotes;
  memory_ = new MemoryCurve;
  statistics_ = new ElidedLabel({}, "mono-muted");
  statistics_->setObjectName(QStringLiteral("statistics"));
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(16, 2, 16, 6);
  foot->setSpacing(8);
  foot->addWidget(statistics_, 1);
  for (const auto& [key, means] :
       {std::pair(tr("W S"), tr("zoom")), std::pair(tr("A D"), tr("pan")),
        std::pair(tr("F"), tr("fit"))}) {
    for (QLabel* hint : {label(key, "key"), caption(means)}) {
      foot->addWidget(hint, 0, Qt::AlignVCenter);
      hints_ << hint;
    }
  }
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head_);
  column->addLayout(underHead_);
  column->addWidget(view_, 3);
  column->addWidget(notes_);
  column->addWidget(memory_, 2);
  column->addLayout(foot);

  connect(&prediction_, &RecipePrediction::changed, this, &StepPanel::refresh);
  connect(rank_, &QComboBox::activated, this, [this] {
    refreshRows();
    showStatistics();
  });
  connect(timeline_, &TimelineWidget::viewChanged, this, &StepPanel::shareAxis);
  connect(timeline_, &TimelineWidget::selectionChanged, this, &StepPanel::showStatistics);
  refresh();
}

void StepPanel::refresh() {
  timeline_->setEmptyText(prediction_.staleReason().isEmpty() ? tr("Planning the step …")
                                                              : tr("No prediction"));
  if (displayed_ != prediction_.shown() || pinned_ != prediction_.pinned()) {
    displayed_ = prediction_.shown();
    pinned_ = prediction_.pinned();
    refreshChoice();
    refreshRows();
  }
  showStatistics();
}

void StepPanel::refreshChoice() {
  if (!displayed_) return rank_->hide();
  const plan::Document& d = displayed_->document;
  const QVariant before = rank_->currentData();
  rank_->clear();
  for (const plan::RankTimeline& timeline : d.timelines) {
    const auto figures = std::ranges::find(d.ranks_shown, timeline.rank, &plan::RankFigures::rank);
    rank_->addItem(
        figures == d.ranks_shown.end() ? tr("rank %1").arg(timeline.rank) : nameOf(d, *figures),
        qint64{timeline.rank});
  }
  if (d.timelines.size() > 1) rank_->addItem(tr("all stages"), kAll);
  int at = rank_->findData(before);
  if (at < 0) at = rank_->findData(qint64{d.peak_rank});
  rank_->setCurrentIndex(std::max(0, at));
  rank_->setVisible(rank_->count() > 1);
}

void StepPanel::refreshRows() {
  if (!displayed_) {
    timeline_->setRows({});
    notes_->setTimeline(nullptr);
    return memory_->setMoments(nullptr, 0);
  }
  const plan::Document& d = displayed_->document;
  const qint64 wanted = rank_->currentData().toLongLong();
  std::vector<TimelineRow> rows;
  std::shared_ptr<const std::vector<plan::MemoryMoment>> moments;
  for (size_t i = 0; i < d.timelines.size(); ++i) {
    const qint64 rank = d.timelines[i].rank;
    if (rank == (wanted == kAll ? d.peak_rank : wanted))
      moments = {displayed_, &d.timelines[i].memory};
    if (wanted != kAll && wanted != rank) continue;
    TimelineRow row;
    const auto figures = std::ranges::find(d.ranks_shown, rank, &plan::RankFigures::rank);
    row.title = tr("rank %1").arg(rank);
    if (figures != d.ranks_shown.end() && d.ranks_shown.size() > 1)
      row.subtitle = tr("stage %1").arg(figures->stage);
    row.timeline = displayed_->timelines[i];
    row.plan = displayed_->plan;
    rows.push_back(std::move(row));
  }
  notes_->setTimeline(rows.size() == 1 ? rows.front().timeline : nullptr);
  notes_->setVisible(rows.size() == 1);
  if (pinned_ && pinned_ != displayed_ && wanted != kAll) addPinned(rows, wanted);
  timeline_->setRows(std::move(rows));
  memory_->setMoments(std::move(moments), d.limit_bytes,
                      wanted == kAll ? tr("rank %1").arg(d.peak_rank) : QString());
  shareAxis();
}

void StepPanel::addPinned(std::vector<TimelineRow>& rows, qint64 rank) const {
  const auto& timelines = pinned_->document.timelines;
  const auto same = std::ranges::find(timelines, rank, &plan::RankTimeline::rank);
  if (timelines.empty()) return;
  const size_t at = same == timelines.end() ? 0 : static_cast<size_t>(same - timelines.begin());
  TimelineRow row;
  row.title = tr("pinned");
  row.subtitle = format::seconds(pinned_->document.step_seconds);
  row.timeline = pinned_->timelines[at];
  row.plan = pinned_->plan;
  rows.push_back(std::move(row));
}

void StepPanel::showGather(const std::vector<std::string>& modules) {
  if (!displayed_ || modules.empty()) return;
  const auto gatherOf = [&](const Timeline& timeline) {
    const auto& spans = timeline.lane(Stream::communication).spans();
    const auto found = std::ranges::find_if(spans, [&](const telemetry::Span& span) {
      return span.name == "all_gather" && isOf(span.module, modules.front());
    });
    return found == spans.end() ? nullptr : &*found;
  };
  // The rank that is shown first; of a pipeline another one may have the bucket.
  const telemetry::Span* gather = rank_->currentData().toLongLong() == kAll
                                      ? nullptr
                                      : gatherOf(*timeline_->rows().front().timeline);
  for (size_t i = 0; gather == nullptr && i < displayed_->timelines.size(); ++i) {
    gather = gatherOf(*displayed_->timelines[i]);
    if (gather == nullptr) continue;
    rank_->setCurrentIndex(rank_->findData(qint64{displayed_->document.timelines[i].rank}));
    refreshRows();
  }
  if (gather == nullptr) return;
  // The spans around it show what hides it.
  const int64_t around = std::max<int64_t>(kMicroBatchesAround * gather->duration_us, 1);
  timeline_->zoomTo({gather->start_us - around, gather->start_us + gather->duration_us + around});
}

void StepPanel::shareAxis() {
  memory_->setAxis(timeline_->axis());
  notes_->setAxis(timeline_->axis());
}

void StepPanel::showStatistics() {
  if (timeline_->rows().empty()) {
    note_->setFullText({});
    return statistics_->setFullText({});
  }
  const Statistics s = timeline_->statistics(0);
  const QString of = timeline_->selection() ? tr("selection %1").arg(duration(s.range))
                                            : timeline_->rows().front().title;
  const QString bubble = s.bubble > 0 ? tr(", bubble %1").arg(duration(s.bubble)) : QString();
  statistics_->setFullText(tr("%1: compute %2, hidden %3, exposed %4%5, idle %6")
                               .arg(of, duration(s.compute), duration(s.overlapped),
                                    duration(s.exposed), bubble, duration(s.idle)));
  setTone(note_, prediction_.isStale() ? "warn" : "muted");
  note_->setFullText(prediction_.isStale() ? tr("shows the recipe before the last edit")
                     : s.communication == 0
                         ? tr("no communication")
                         : tr("%1 communication, %2 hidden")
                               .arg(duration(s.communication), format::percent(s.overlap())));
  placeLegend();
}

/// In the head where there is room for it next to the words about the step, else under it.
void StepPanel::placeLegend() {
  int used =
      2 * kStepMargin + 3 * kStepSpacing + title_->sizeHint().width() + note_->sizeHint().width();
  used += kStepSpacing + view_->tools()->sizeHint().width();
  if (!rank_->isHidden()) used += kStepSpacing + rank_->sizeHint().width();
  const bool fits = used + legend_->sizeHint().width() <= width();
  QHBoxLayout* place = fits ? head_ : underHead_;
  if (place->indexOf(legend_) >= 0) return;
  (fits ? underHead_ : head_)->removeWidget(legend_);
  place->insertWidget(fits ? head_->indexOf(view_->tools()) : 0, legend_, 0, Qt::AlignLeft);
}

void StepPanel::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  view_->tools()->setNarrow(event->size().width() < kRoomForSearch);
  placeLegend();
  for (QLabel* hint : hints_) hint->setVisible(event->size().width() >= kRoomForHints);
}

}  // namespace heddle::gui
