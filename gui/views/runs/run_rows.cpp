#include "gui/views/runs/run_rows.h"

#include <algorithm>
#include <set>

#include "engine/telemetry/metrics.h"
#include "gui/models/run_pace.h"
#include "gui/models/value.h"
#include "storage/clock.h"
#include "storage/difference.h"
#include "workbench/run_values.h"

namespace heddle::gui {
namespace {

using ValuesOfRuns = std::map<storage::RunId, storage::Value>;

std::optional<double> at(const ValuesOfRuns& column, storage::RunId run) {
  const auto found = column.find(run);
  return found == column.end() ? std::nullopt : storage::number_of(found->second);
}

/// A rank's metric in one step.
std::optional<double> valueAt(storage::Reader& reader, storage::RunId run, const char* metric,
                              int32_t rank, int64_t step) {
  const auto samples = reader.samples(run, metric, rank, {step, step});
  return samples && !samples->empty() ? std::optional(samples->back().value) : std::nullopt;
}

/// As Live shows a run in progress: its results come when it ends.
Result<> addNewest(storage::Reader& reader, RunRow& row) {
  const storage::RunSummary& run = row.summary;
  const auto logs = reader.logs(run.id);
  if (!logs) return fail(logs);
  std::set<int32_t> ranks;
  for (const storage::LogCursor& log : *logs)
    if (log.rank >= 0) ranks.insert(log.rank);
  constexpr auto kMemory = "resident_bytes";
  telemetry::RankFold memory(telemetry::metric(kMemory));
  for (const int32_t rank : ranks)
    if (const auto bytes = valueAt(reader, run.id, kMemory, rank, run.steps))
      memory.add(rank, *bytes);
  if (!memory.empty()) row.peakBytes = memory.value();
  const auto exposed = readExposed(reader, run.id, {ranks.begin(), ranks.end()});
  if (!exposed) return fail(exposed);
  if (*exposed) row.exposedShare = (*exposed)->share;
  return {};
}

}  // namespace

QDateTime RunRow::created() const {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(summary.created * 1000));
}

int64_t RunRow::trained() const {
  return std::max<int64_t>(0, summary.steps - (summary.lineage ? summary.lineage->step : 0));
}

std::optional<double> RunRow::seconds() const {
  if (storage::has_ended(summary.state)) return storage::seconds_taken(summary);
  if (!summary.started) return std::nullopt;
  return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000 - *summary.started;
}

Result<std::vector<RunRow>> readRunRows(storage::Reader& reader, RunPlace place) {
  auto runs = reader.runs(place == RunPlace::trash);
  if (!runs) return fail(runs);
  if (place != RunPlace::trash)
    std::erase_if(*runs, [&](const storage::RunSummary& run) {
      return run.archived.has_value() != (place == RunPlace::archive);
    });
  const auto steps = reader.column("recipe.training.steps");
  if (!steps) return fail(steps);
  const auto peak = reader.column("results.peak_bytes");
  if (!peak) return fail(peak);
  const auto exposed = reader.column("results.exposed_seconds");
  if (!exposed) return fail(exposed);
  const auto step = reader.column("results.step_seconds");
  if (!step) return fail(step);
  const auto losses = reader.metric_summaries("loss");
  if (!losses) return fail(losses);
  const auto contacts = readContacts(reader);
  if (!contacts) return fail(contacts);
  std::vector<RunRow> rows;
  rows.reserve(runs->size());
  for (storage::RunSummary& run : *runs) {
    RunRow row;
    row.stepsPlanned = at(*steps, run.id);
    row.peakBytes = at(*peak, run.id);
    if (const auto of = exposedOf(at(*exposed, run.id), at(*step, run.id)))
      row.exposedShare = of->share;
    if (const auto loss = losses->find(run.id); loss != losses->end())
      row.bestLoss = workbench::aggregate(loss->second, {"best", "loss"});
    row.curve = QVector<double>(run.sparkline.begin(), run.sparkline.end());
    row.contact = contacts->of(run);
    row.summary = std::move(run);
    if (isFollowed(row.summary.state))
      if (Result<> added = addNewest(reader, row); !added) return fail(added);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace heddle::gui
