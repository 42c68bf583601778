#include "gui/views/runs/run_rows.h"

#include "gui/models/run_pace.h"
#include "gui/models/value.h"

namespace heddle::gui {
namespace {

using Column = std::map<storage::RunId, storage::Value>;

std::optional<double> at(const Column& column, storage::RunId run) {
  const auto found = column.find(run);
  return found == column.end() ? std::nullopt : number(found->second);
}

}  // namespace

QDateTime RunRow::created() const {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(summary.created * 1000));
}

std::optional<double> RunRow::seconds() const {
  if (!summary.started) return std::nullopt;
  if (summary.finished) return *summary.finished - *summary.started;
  if (storage::has_ended(summary.state)) return std::nullopt;
  return static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000 - *summary.started;
}

Result<std::vector<RunRow>> readRunRows(storage::Reader& reader, bool trashed) {
  auto runs = reader.runs(trashed);
  if (!runs) return fail(runs);
  const auto steps = reader.column("recipe.training.steps");
  if (!steps) return fail(steps);
  const auto peak = reader.column("results.peak_bytes");
  if (!peak) return fail(peak);
  const auto exposed = reader.column("results.exposed_seconds");
  if (!exposed) return fail(exposed);
  const auto step = reader.column("results.step_seconds");
  if (!step) return fail(step);
  const auto contacts = readContacts(reader);
  if (!contacts) return fail(contacts);
  std::vector<RunRow> rows;
  rows.reserve(runs->size());
  for (storage::RunSummary& run : *runs) {
    RunRow row;
    row.stepsPlanned = at(*steps, run.id);
    row.peakBytes = at(*peak, run.id);
    row.exposedShare = exposedShare(at(*exposed, run.id), at(*step, run.id));
    row.curve = QVector<double>(run.sparkline.begin(), run.sparkline.end());
    row.contact = contacts->of(run);
    row.summary = std::move(run);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace heddle::gui
