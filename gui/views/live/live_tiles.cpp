#include "gui/views/live/live_tiles.h"

#include <QHBoxLayout>
#include <cmath>

#include "engine/telemetry/metrics.h"
#include "gui/format.h"
#include "gui/models/value.h"
#include "storage/clock.h"

namespace heddle::gui {
namespace {

constexpr qsizetype kSparkline = 400;  // samples

void push(QVector<double>& values, double value) {
  values.append(value);
  if (values.size() > 2 * kSparkline) values.remove(0, values.size() - kSparkline);
}

}  // namespace

LiveTiles::LiveTiles(QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  const auto add = [&](const QString& name, const char* object) {
    auto* tile = new Tile(name);
    tile->setObjectName(QLatin1String(object));
    row->addWidget(tile, 1);
    return tile;
  };
  loss_ = add(tr("Loss"), "lossTile");
  throughput_ = add(tr("Throughput a rank"), "throughputTile");
  utilization_ = add(tr("MFU"), "mfuTile");
  memory_ = add(tr("Memory"), "memoryTile");
  exposed_ = add(tr("Exposed"), "exposedTile");
  time_ = add(tr("Time"), "timeTile");
  clear();
}

void LiveTiles::clear() {
  for (auto* values : {&losses_, &rates_, &bytes_, &shares_, &seconds_}) values->clear();
  newest_ = {};
  profiled_ = 0;
  for (Tile* tile : {loss_, throughput_, utilization_, memory_, exposed_, time_}) {
    tile->setValue(format::kNone, QStringLiteral(" "));
    tile->setNote({});
    tile->setSeries({});
    tile->setTone(Tone::text);
  }
  utilization_->hide();
}

void LiveTiles::append(const std::vector<StepPoint>& points) {
  for (const StepPoint& point : points) {
    if (point.hasLoss) push(losses_, point.loss);
    push(bytes_, point.memoryBytes);
    if (point.step > telemetry::kWarmUpSteps) {
      push(rates_, point.tokensPerSecond);
      push(seconds_, point.stepSeconds);
    }
    if (!std::isnan(point.exposedShare)) {
      push(shares_, point.exposedShare);
      ++profiled_;
    }
    newest_ = point;
  }
}

void LiveTiles::begin(const StepsBefore& before) {
  for (auto* values : {&losses_, &rates_, &bytes_, &seconds_}) values->clear();
  profiled_ = before.profiled;
  shares_ = {before.exposedShares.begin(), before.exposedShares.end()};
}

void LiveTiles::show(const storage::RunDetail& run, const StepPoints& steps, const RunPace& pace,
                     const std::optional<Exposed>& exposed) {
  showTime(run, pace);
  if (newest_.step == 0) return;
  showLoss(steps);
  showThroughput(run);
  showUtilization(run, steps);
  showMemory(run);
  showExposed(run, exposed);
}

void LiveTiles::showLoss(const StepPoints& steps) {
  loss_->setValue(newest_.hasLoss ? format::loss(newest_.loss) : format::kNone,
                  QStringLiteral(" "));
  loss_->setTone(newest_.hasLoss && !std::isfinite(newest_.loss) ? Tone::bad : Tone::text);
  // A narrow tile has room for one; the other is among the facts.
  const auto validation = steps.latest("validation_loss");
  const auto norm = steps.latest("grad_norm");
  loss_->setNote(validation ? tr("validation %1").arg(format::loss(*validation))
                 : norm     ? tr("gradient norm %1").arg(format::significant(*norm))
                            : QString());
  loss_->setSeries(losses_);
}

void LiveTiles::showThroughput(const storage::RunDetail& run) {
  const auto median = run.summary.tokens_per_second_per_rank;
  throughput_->setValue(
      median ? format::tokensPerSecond(*median).section(QLatin1Char(' '), 0, 0) : format::kNone,
      tr("tok/s"));
  const auto ranks = static_cast<double>(run.ranks.size());
  QStringList note;
  if (median && ranks > 1) note << tr("%1 in all").arg(format::count(qRound64(*median * ranks)));
  if (!storage::has_ended(run.summary.state) && !std::isnan(newest_.tokensPerSecond))
    note << tr("now %1").arg(
        format::tokensPerSecond(newest_.tokensPerSecond).section(QLatin1Char(' '), 0, 0));
  throughput_->setNote(note.join(QStringLiteral(", ")));
  throughput_->setToolTip(tr("The median of the run so far, as on every page"));
  throughput_->setSeries(rates_);
}

void LiveTiles::showUtilization(const storage::RunDetail& run, const StepPoints& steps) {
  const auto mfu = steps.latest("mfu") ? steps.latest("mfu") : resultOf(run, "mfu");
  utilization_->setVisible(mfu.has_value());
  if (mfu) utilization_->setValue(format::percent(*mfu));
}

void LiveTiles::showMemory(const storage::RunDetail& run) {
  // A run that has ended shows its result, as every page does; before, its newest step.
  const auto peak = resultOf(run, "peak_bytes");
  const double held = peak.value_or(newest_.memoryBytes);
  memory_->setValue(std::isnan(held) ? format::kNone : format::bytes(held));
  memory_->setToolTip(peak ? tr("Peak of the rank that held most, as on every page")
                           : tr("Held now by the rank that holds most"));
  const auto predicted = resultOf(run, "predicted_peak_bytes");
  memory_->setNote(
      predicted && *predicted > 0 ? tr("predicted %1").arg(format::bytes(*predicted))
      : run.ranks.size() > 1
          ? tr("highest of %1")
                .arg(format::plural(static_cast<qint64>(run.ranks.size()), counted::kRank))
      : std::isnan(held) ? tr("no rank reports it")
                         : tr("resident"));
  memory_->setSeries(bytes_);
}

void LiveTiles::showExposed(const storage::RunDetail& run, const std::optional<Exposed>& exposed) {
  exposed_->setSeries(shares_);
  if (!exposed) {
    exposed_->setNote(storage::has_ended(run.summary.state) ? tr("no profiled step")
                                                            : tr("no profiled step yet"));
    return;
  }
  exposed_->setValue(format::percent(exposed->share).section(QLatin1Char(' '), 0, 0),
                     tr("% of a step"));
  exposed_->setNote(tr("%1, median").arg(format::seconds(exposed->seconds)));
  exposed_->setToolTip(tr("Communication that compute waits for: the median of %1, the mean of the "
                          "ranks, as on every "
                          "page. The step below has its own.")
                           .arg(format::plural(profiled_, counted::kProfiledStep)));
  exposed_->setTone(isMuchExposed(exposed->share) ? Tone::bad : Tone::text);
}

void LiveTiles::showTime(const storage::RunDetail& run, const RunPace& pace) {
  const bool ended = storage::has_ended(run.summary.state);
  const auto split = [this](double seconds, const QString& after) {
    const QString text = format::seconds(seconds);
    time_->setValue(text.section(QLatin1Char(' '), 0, 0),
                    text.section(QLatin1Char(' '), 1) + QLatin1Char(' ') + after);
  };
  const auto remaining = pace.remaining();
  if (ended) {
    if (const auto seconds = storage::seconds_taken(run.summary))
      split(*seconds, tr("in all"));
    else
      time_->setValue(format::kNone);
  } else if (!ended && remaining) {
    split(*remaining, tr("left"));
  } else if (pace.stepSeconds > 0) {
    split(pace.stepSeconds, tr("a step"));
  }
  QString note = pace.steps > 0
                     ? tr("step %1 of %2").arg(format::count(pace.step), format::count(pace.steps))
                     : tr("step %1").arg(format::count(pace.step));
  if (run.summary.state == storage::RunState::preparing) note = tr("being launched");
  if (run.summary.state == storage::RunState::waiting) note = tr("its job waits");
  time_->setNote(note);
  time_->setSeries(seconds_);
}

void LiveTiles::setStale(bool stale) {
  for (Tile* tile : {loss_, throughput_, utilization_, memory_, exposed_, time_})
    tile->setStale(stale);
}

}  // namespace heddle::gui
