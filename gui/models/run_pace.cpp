#include "gui/models/run_pace.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/telemetry/metrics.h"
#include "gui/models/median.h"
#include "gui/models/value.h"
#include "storage/difference.h"

namespace heddle::gui {
namespace {

constexpr int64_t kRecentSteps = 20;
constexpr size_t kBins = 512;  // exact for as many steps; of more the means of neighbours

/// A rank's median without the metric's warm-up, or of all steps of a run that is too short.
Result<std::optional<double>> medianOf(storage::Reader& reader, storage::RunId run,
                                       const telemetry::Metric& metric, int32_t rank) {
  const auto bins = reader.series(run, std::string(metric.name), rank, {}, kBins);
  if (!bins) return fail(bins);
  std::vector<double> early, late;
  for (const storage::Bin& bin : *bins)
    if (std::isfinite(bin.mean))
      (bin.last_step <= metric.warm_up ? early : late).push_back(bin.mean);
  if (late.empty()) late = std::move(early);
  return late.empty() ? std::nullopt : std::optional(median(std::move(late)));
}

}  // namespace

std::optional<double> RunPace::remaining() const {
  if (ending || steps <= step || stepSeconds <= 0) return std::nullopt;
  return static_cast<double>(steps - step) * stepSeconds;
}

Result<RunPace> readPace(storage::Reader& reader, const storage::RunSummary& run) {
  RunPace pace;
  // One that goes on from another's checkpoint has its first step still to end.
  pace.step = std::max(run.steps, run.lineage ? run.lineage->step : 0);
  const auto planned = reader.recipe_values(run.id);
  if (!planned) return fail(planned);
  if (const auto found = planned->find("training.steps"); found != planned->end())
    pace.steps = static_cast<int64_t>(storage::number_of(found->second).value_or(0));
  // Ranks wait for one another in every step: one rank's seconds are the run's. The first step is
  // slower than all others.
  const storage::StepRange recent{std::max<int64_t>(2, pace.step - kRecentSteps), pace.step};
  const auto samples = reader.samples(run.id, "step_seconds", 0, recent);
  if (!samples) return fail(samples);
  std::vector<double> seconds;
  for (const storage::Sample& sample : *samples)
    if (std::isfinite(sample.value)) seconds.push_back(sample.value);
  if (!seconds.empty()) pace.stepSeconds = median(std::move(seconds));
  return pace;
}

std::optional<Exposed> exposedOf(const std::optional<double>& exposedSeconds,
                                 const std::optional<double>& stepSeconds) {
  if (!exposedSeconds || !stepSeconds || *stepSeconds <= 0) return std::nullopt;
  return Exposed{*exposedSeconds, *exposedSeconds / *stepSeconds};
}

Result<std::optional<Exposed>> readExposed(storage::Reader& reader, storage::RunId run,
                                           const std::vector<int32_t>& ranks) {
  const telemetry::Metric& metric = telemetry::metric("exposed_seconds");
  telemetry::RankFold exposed(metric);
  for (const int32_t rank : ranks) {
    const auto seconds = medianOf(reader, run, metric, rank);
    if (!seconds) return fail(seconds);
    if (*seconds) exposed.add(rank, **seconds);
  }
  if (exposed.empty()) return std::nullopt;
  const auto step = medianOf(reader, run, telemetry::metric("step_seconds"), ranks.front());
  if (!step) return fail(step);
  return exposedOf(exposed.value(), *step);
}

}  // namespace heddle::gui
