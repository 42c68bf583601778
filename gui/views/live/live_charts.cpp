#include "gui/views/live/live_charts.h"

#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/format.h"
#include "gui/models/value.h"
#include "gui/session.h"
#include "gui/theme/theme.h"
#include "gui/widgets/basics.h"
#include "gui/widgets/layouts.h"
#include "gui/widgets/run_chooser.h"

namespace heddle::gui {
namespace {

constexpr const char* kSpeedMetric = "tokens_per_second";
constexpr const char* kMemoryMetric = "resident_bytes";
constexpr const char* kValidationMetric = "validation_loss";
constexpr int kChartColumn = 230, kMinChartsHeight = 200;

std::vector<ChartSpec> defaultCharts(bool validates) {
  std::vector<ChartSpec> charts{{.metric = "loss"}};
  if (validates) charts.push_back({.metric = kValidationMetric});
  charts.push_back({.metric = kSpeedMetric});
  charts.push_back({.metric = kMemoryMetric});
  for (ChartSpec& chart : charts) chart.aggregate = false;  // each added run as its own curve
  return charts;
}

/// "31 % longer than predicted", "37 times as long as predicted".
QString wordsOf(const Departure& of, const QString& more, const QString& less, const QString& as) {
  if (of.share >= 1)
    return LiveCharts::tr("%1 times as %2 as predicted")
        .arg(format::significant(1 + of.share, 2), as);
  return LiveCharts::tr("%1 %2 than predicted")
      .arg(format::percent(std::abs(of.share)), of.share > 0 ? more : less);
}

ChartMark markOf(const Departure& of, const QString& words, Tone whenLess) {
  return {static_cast<double>(of.step),
          LiveCharts::tr("step %1: %2").arg(format::count(of.step), words),
          of.share > 0 ? Tone::warn : whenLess};
}

}  // namespace

LiveCharts::LiveCharts(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), listing_(session.readingThread(), this) {
  board_ = new ChartBoard(session);
  addRun_ = quietButton(tr("Add run"), QStringLiteral("plus"));
  addRun_->setObjectName(QStringLiteral("addRun"));
  addRun_->setToolTip(tr("Draw other runs over this one, finished or going on"));
  connect(addRun_, &QPushButton::clicked, this, &LiveCharts::offerRuns);
  board_->addTool(addRun_);
  board_->setColumnWidth(kChartColumn);
  board_->setDefaults(defaultCharts(false));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  QScrollArea* area = scrolled(board_);
  area->setAccessibleName(tr("Charts"));
  layout->addWidget(area);
  setMinimumHeight(kMinChartsHeight);
  connect(&Theme::instance(), &Theme::changed, this, &LiveCharts::showRuns);
}

void LiveCharts::clear() {
  run_ = 0;
  name_.clear();
  ancestors_.clear();
  for (const char* metric : {kSpeedMetric, kMemoryMetric}) {
    board_->setReferences(metric, {});
    board_->setMark(metric, {});
  }
  markTimeline(0);
  showRuns();
  for (MetricChart* chart : board_->charts()) chart->showAll();
}

void LiveCharts::setRun(const storage::RunDetail& run) {
  board_->setDefaults(
      defaultCharts(std::ranges::find(run.series, kValidationMetric) != run.series.end()));
  showReferences(run);
  run_ = run.summary.id;
  name_ = format::spelled(run.summary.name);
  showRuns();
  board_->refresh();
}

void LiveCharts::setAncestors(std::vector<Ancestor> ancestors) {
  ancestors_ = std::move(ancestors);
  showRuns();
}

/// The run's log has its prediction before the first step.
void LiveCharts::showReferences(const storage::RunDetail& run) {
  const double bytes = predictedStep(run).bytes;
  std::vector<ReferenceLine> memory, speed;
  if (bytes > 0) memory.push_back({bytes, tr("predicted %1").arg(format::bytes(bytes))});
  if (const auto rate = resultOf(run, "predicted_tokens_per_second_per_rank"); rate && *rate > 0)
    speed.push_back({*rate, tr("predicted")});
  board_->setReferences(kMemoryMetric, std::move(memory));
  board_->setReferences(kSpeedMetric, std::move(speed));
}

void LiveCharts::setDepartures(const Departures& departures) {
  std::optional<ChartMark> time, memory;
  if (const auto& of = departures.time())
    time = markOf(*of, wordsOf(*of, tr("longer"), tr("shorter"), tr("long")), Tone::good);
  if (const auto& of = departures.memory())
    memory = markOf(*of, wordsOf(*of, tr("more"), tr("less"), tr("much")), Tone::warn);
  board_->setMark(kSpeedMetric, std::move(time));
  board_->setMark(kMemoryMetric, std::move(memory));
}

void LiveCharts::markTimeline(int64_t step) {
  std::optional<ChartMark> mark;
  if (step > 0)
    mark = ChartMark{static_cast<double>(step),
                     tr("step %1, timeline below").arg(format::count(step)), Tone::muted};
  board_->setMark("loss", std::move(mark));
}

void LiveCharts::setRuns(const std::vector<storage::RunSummary>& runs) {
  names_.clear();
  for (const storage::RunSummary& run : runs)
    if (added_.contains(run.id)) names_[run.id] = format::spelled(run.name);
  showRuns();
}

void LiveCharts::offerRuns() {
  session_.read(
      listing_, [](storage::Reader& reader) { return reader.runs(); },
      [this](Result<std::vector<storage::RunSummary>> all) {
        if (!all)
          return Q_EMIT session_.message(QString::fromStdString(all.error().message), Tone::bad);
        std::erase_if(*all, [this](const storage::RunSummary& run) {
          return run.id == run_ || (run.steps == 0 && !added_.contains(run.id));
        });
        for (const storage::RunSummary& run : *all) names_[run.id] = format::spelled(run.name);
        auto* chooser = new RunChooser(this);
        chooser->setRuns(std::move(*all), QSet<qint64>(added_.begin(), added_.end()));
        connect(chooser, &RunChooser::ticked, this, &LiveCharts::add);
        chooser->open(addRun_);
      });
}

void LiveCharts::add(qint64 run, bool on) {
  added_.removeAll(run);
  if (on) added_.append(run);
  showRuns();
}

void LiveCharts::setAdded(QList<qint64> runs) {
  added_ = std::move(runs);
  showRuns();
}

void LiveCharts::showRuns() {
  std::vector<BoardRun> runs;
  if (run_ != 0) {
    QList<qint64> ids{run_};
    for (const qint64 id : added_)
      if (id != run_ && names_.contains(id)) ids.append(id);
    const QList<int> slots = session_.runSlots().of(ids);
    const Scheme scheme = Theme::instance().scheme();
    for (qsizetype i = 0; i < ids.size(); ++i)
      runs.push_back({.id = ids[i],
                      .name = i == 0 ? name_ : names_[ids[i]],
                      .stroke = runStroke(slots[i], scheme),
                      .group = i > 0 && ids.size() > 2 ? tr("the added runs") : QString(),
                      .highlighted = i == 0 && ids.size() > 1});
    for (const Ancestor& each : ancestors_)
      if (!ids.contains(each.run))
        runs.push_back({.id = each.run,
                        .name = each.name,
                        .stroke = {colors().muted},
                        .lastStep = each.steps.last});
  }
  if (runs == shown_) return;
  shown_ = runs;
  // Added runs are compared with the shown one.
  board_->setBaseline(std::ranges::any_of(runs, &BoardRun::highlighted) ? run_ : 0);
  board_->setRuns(std::move(runs));
}

}  // namespace heddle::gui
