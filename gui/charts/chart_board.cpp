#include "gui/charts/chart_board.h"

#include <QGridLayout>
#include <algorithm>

#include "gui/session.h"

namespace heddle::gui {
namespace {

constexpr int kCardWidth = 420, kCardHeight = 240;
constexpr int kMaxColumns = 4;

/// What the charts need to know of the runs. A run that has been removed is left out.
std::vector<CurveRun> readCurveRuns(storage::Reader& reader, const std::vector<qint64>& runs) {
  std::vector<CurveRun> found;
  for (const qint64 id : runs) {
    const auto run = reader.run(id);
    if (!run) continue;
    found.push_back(
        {id, run->ranks, run->summary.steps * 8 + static_cast<int64_t>(run->summary.state)});
  }
  return found;
}

}  // namespace

ChartBoard::ChartBoard(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), job_(session.readingThread(), this) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(8);
}

void ChartBoard::setDefaults(std::vector<ChartSpec> charts) { setCharts(charts); }

void ChartBoard::setViews(const QString& key) { key_ = key; }

void ChartBoard::setCharts(const std::vector<ChartSpec>& charts) {
  for (MetricChart* chart : charts_) delete chart;
  charts_.clear();
  for (const ChartSpec& spec : charts) addChart(spec);
  arrange();
}

void ChartBoard::addChart(const ChartSpec& spec) {
  auto* chart = new MetricChart(session_, spec, this);
  chart->setMinimumHeight(kCardHeight);
  charts_.push_back(chart);
  group_.add(chart);
  const auto references = references_.find(spec.metric);
  if (references != references_.end()) chart->setReferences(references->second);
  const auto mark = marks_.find(spec.metric);
  if (mark != marks_.end()) chart->setMark(mark->second);
  chart->setBaseline(baseline_);
  chart->setRuns(runs_);
  std::vector<CurveRun> sources;
  for (const auto& [id, source] : sources_) sources.push_back(source);
  chart->setSources(std::move(sources));
}

void ChartBoard::setRuns(std::vector<BoardRun> runs) {
  runs_ = std::move(runs);
  for (MetricChart* chart : charts_) chart->setRuns(runs_);
  refresh();
}

void ChartBoard::setBaseline(qint64 run) {
  baseline_ = run;
  for (MetricChart* chart : charts_) chart->setBaseline(run);
}

void ChartBoard::refresh() {
  if (job_.running()) {
    again_ = true;
    return;
  }
  readRuns();
}

void ChartBoard::readRuns() {
  std::vector<qint64> ids;
  for (const BoardRun& run : runs_) ids.push_back(run.id);
  session_.read(
      job_,
      [ids](storage::Reader& reader) -> Result<std::vector<CurveRun>> {
        return readCurveRuns(reader, ids);
      },
      [this](Result<std::vector<CurveRun>> found) {
        if (!found)
          return Q_EMIT session_.message(QString::fromStdString(found.error().message), Tone::bad);
        sources_.clear();
        for (const CurveRun& run : *found) sources_[run.id] = run;
        for (MetricChart* chart : charts_) chart->setSources(*found);
        if (std::exchange(again_, false)) readRuns();
      });
}

void ChartBoard::setReferences(const std::string& metric, std::vector<ReferenceLine> lines) {
  for (MetricChart* chart : charts_)
    if (chart->spec().metric == metric) chart->setReferences(lines);
  references_[metric] = std::move(lines);
}

void ChartBoard::setMark(const std::string& metric, std::optional<ChartMark> mark) {
  for (MetricChart* chart : charts_)
    if (chart->spec().metric == metric) chart->setMark(mark);
  if (mark)
    marks_[metric] = *mark;
  else
    marks_.erase(metric);
}

bool ChartBoard::isReady() const {
  return !job_.running() && std::ranges::all_of(charts_, &MetricChart::isReady);
}

void ChartBoard::arrange() {
  auto* grid = static_cast<QGridLayout*>(layout());
  const int columns = std::clamp(width() / kCardWidth, 1, kMaxColumns);
  for (size_t i = 0; i < charts_.size(); ++i) {
    grid->removeWidget(charts_[i]);
    grid->addWidget(charts_[i], static_cast<int>(i) / columns, static_cast<int>(i) % columns);
  }
}

void ChartBoard::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

}  // namespace heddle::gui
