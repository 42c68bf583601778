#include "gui/views/compose/step_panel.h"

#include <QHBoxLayout>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/format.h"
#include "gui/theme/theme.h"
#include "gui/timeline/span_text.h"
#include "gui/timeline/timeline_legend.h"
#include "gui/views/compose/prediction_words.h"

namespace heddle::gui {
namespace {

constexpr qint64 kAll = -1;
constexpr int kLowest = 106;  // a rank's lanes under their axis, without scrolling
constexpr int kRoomForLegend = 760, kRoomForHints = 900;

}  // namespace

StepPanel::StepPanel(RecipePrediction& prediction, QWidget* parent)
    : QFrame(parent), prediction_(prediction) {
  setObjectName(QStringLiteral("predictedTimeline"));
  setProperty("role", "panel");
  auto* head = new QHBoxLayout;
  head->setContentsMargins(16, 8, 16, 4);
  head->setSpacing(12);
  note_ = new ElidedLabel({}, "mono-muted");
  legend_ = new TimelineLegend;
  rank_ = new QComboBox;
  rank_->setObjectName(QStringLiteral("rank"));
  rank_->setAccessibleName(tr("Rank"));
  rank_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  head->addWidget(heading(tr("Predicted timeline")));
  head->addWidget(note_, 1);
  head->addWidget(legend_);
  head->addWidget(rank_);
  timeline_ = new TimelineWidget;
  timeline_->setObjectName(QStringLiteral("predictedSteps"));
  timeline_->setPhaseBand(PhaseBand::firstRow);
  timeline_->setMinimumHeight(kLowest);
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
  column->addLayout(head);
  column->addWidget(timeline_, 3);
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
  timeline_->setEmptyText(prediction_.staleReason().isEmpty() ? tr("The step is being planned …")
                                                              : tr("No prediction"));
  if (displayed_ != prediction_.shown()) {
    displayed_ = prediction_.shown();
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
    rows.push_back(std::move(row));
  }
  notes_->setTimeline(rows.size() == 1 ? rows.front().timeline : nullptr);
  timeline_->setRows(std::move(rows));
  memory_->setMoments(std::move(moments), d.limit_bytes);
  shareAxis();
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
  statistics_->setFullText(tr("%1: compute %2, hidden %3, exposed %4, idle %5")
                               .arg(of, duration(s.compute), duration(s.overlapped),
                                    duration(s.exposed), duration(s.idle)));
  setTone(note_, prediction_.isStale() ? "warn" : "muted");
  note_->setFullText(prediction_.isStale() ? tr("not of the recipe as it is now")
                     : s.communication == 0
                         ? tr("no communication")
                         : tr("%1 communication, %2 hidden")
                               .arg(duration(s.communication), format::percent(s.overlap())));
}

void StepPanel::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  legend_->setVisible(event->size().width() >= kRoomForLegend);
  for (QLabel* hint : hints_) hint->setVisible(event->size().width() >= kRoomForHints);
}

}  // namespace heddle::gui
