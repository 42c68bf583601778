#include "gui/views/live/live_tiles.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <cmath>

#include "gui/format.h"

namespace heddle::gui {
namespace {

constexpr qsizetype kSparkline = 400;  // samples

void push(QVector<double>& values, double value) {
  values.append(value);
  if (values.size() > 2 * kSparkline) values.remove(0, values.size() - kSparkline);
}

std::optional<double> result(const storage::RunDetail& run, const std::string& name) {
  const auto found = run.results.find(name);
  if (found == run.results.end()) return std::nullopt;
  const auto* value = std::get_if<double>(&found->second);
  return value ? std::optional(*value) : std::nullopt;
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
  throughput_ = add(tr("Throughput"), "throughputTile");
  utilization_ = add(tr("MFU"), "mfuTile");
  memory_ = add(tr("Memory"), "memoryTile");
  exposed_ = add(tr("Exposed"), "exposedTile");
  time_ = add(tr("Time"), "timeTile");
  clear();
}

void LiveTiles::clear() {
  for (auto* values : {&losses_, &rates_, &bytes_, &shares_, &seconds_}) values->clear();
  newest_ = {};
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
    if (point.step > kWarmUpSteps) {
      push(rates_, point.tokensPerSecond);
      push(seconds_, point.stepSeconds);
    }
    if (!std::isnan(point.exposedShare)) {
      push(shares_, point.exposedShare);
      exposedSeconds_ = point.exposedShare * point.stepSeconds;
      newest_.exposedShare = point.exposedShare;
    }
    const double exposed = newest_.exposedShare;
    newest_ = point;
    newest_.exposedShare = exposed;
  }
}

void LiveTiles::show(const storage::RunDetail& run, const StepPoints& steps, int64_t totalSteps) {
  showTime(run, steps, totalSteps);
  if (newest_.step == 0) return;
  showLoss(steps);
  showThroughput(run.ranks.size());
  showUtilization(run, steps);
  showMemory(run);
  showExposed();
}

void LiveTiles::showLoss(const StepPoints& steps) {
  const bool finite = std::isfinite(newest_.loss);
  loss_->setValue(finite ? format::loss(newest_.loss) : tr("NaN"), QStringLiteral(" "));
  loss_->setTone(finite ? Tone::text : Tone::bad);
  QStringList note;
  if (const auto norm = steps.latest("grad_norm")) {
    note << tr("gradient norm %1").arg(format::significant(*norm));
  }
  if (const auto validation = steps.latest("validation_loss")) {
    note << tr("validation %1").arg(format::loss(*validation));
  }
  loss_->setNote(note.join(QStringLiteral(", ")));
  loss_->setSeries(losses_);
}

void LiveTiles::showThroughput(size_t ranks) {
  throughput_->setValue(
      format::tokensPerSecond(newest_.tokensPerSecond).section(QLatin1Char(' '), 0, 0),
      tr("tok/s a rank"));
  throughput_->setNote(ranks > 1 ? tr("%1 in all")
                                       .arg(format::tokensPerSecond(newest_.tokensPerSecond *
                                                                    static_cast<double>(ranks)))
                                 : tr("one rank"));
  throughput_->setSeries(rates_);
}

void LiveTiles::showUtilization(const storage::RunDetail& run, const StepPoints& steps) {
  const auto mfu = steps.latest("mfu") ? steps.latest("mfu") : result(run, "mfu");
  utilization_->setVisible(mfu.has_value());
  if (mfu) utilization_->setValue(format::percent(*mfu));
}

void LiveTiles::showMemory(const storage::RunDetail& run) {
  memory_->setValue(format::bytes(newest_.memoryBytes));
  const auto predicted = result(run, "predicted_peak_bytes");
  memory_->setNote(predicted && *predicted > 0 ? tr("predicted %1").arg(format::bytes(*predicted))
                   : run.ranks.size() > 1
                       ? tr("highest of %1")
                             .arg(format::plural(static_cast<qint64>(run.ranks.size()), tr("rank")))
                       : tr("resident"));
  memory_->setSeries(bytes_);
}

void LiveTiles::showExposed() {
  if (std::isnan(newest_.exposedShare)) {
    exposed_->setNote(tr("no profiled step yet"));
    return;
  }
  exposed_->setValue(format::percent(newest_.exposedShare).section(QLatin1Char(' '), 0, 0),
                     tr("% of a step"));
  exposed_->setNote(tr("%1 nothing hides").arg(format::seconds(exposedSeconds_)));
  exposed_->setTone(newest_.exposedShare >= 0.05 ? Tone::bad : Tone::text);
  exposed_->setSeries(shares_);
}

void LiveTiles::showTime(const storage::RunDetail& run, const StepPoints& steps,
                         int64_t totalSteps) {
  const double each = steps.typicalStepSeconds();
  const int64_t step = newest_.step;
  const bool ended = storage::has_ended(run.summary.state);
  const auto split = [this](double seconds, const QString& after) {
    const QString text = format::seconds(seconds);
    time_->setValue(text.section(QLatin1Char(' '), 0, 0),
                    text.section(QLatin1Char(' '), 1) + QLatin1Char(' ') + after);
  };
  if (ended && run.summary.started && run.summary.finished) {
    split(*run.summary.finished - *run.summary.started, tr("in all"));
  } else if (!ended && each > 0 && totalSteps > 0) {
    split(static_cast<double>(std::max<int64_t>(totalSteps - step, 0)) * each, tr("left"));
  } else if (each > 0) {
    split(each, tr("a step"));
  }
  QString note = totalSteps > 0
                     ? tr("step %1 of %2").arg(format::count(step), format::count(totalSteps))
                     : tr("step %1").arg(format::count(step));
  if (run.summary.state == storage::RunState::preparing) note = tr("being launched");
  time_->setNote(note);
  time_->setSeries(seconds_);
}

}  // namespace heddle::gui
