#include "gui/models/run_facts.h"

#include <algorithm>

#include "gui/models/predicted_timeline.h"

namespace heddle::gui {
namespace {

bool has(const storage::RunDetail& run, const std::string& name) {
  return std::find(run.series.begin(), run.series.end(), name) != run.series.end();
}

Result<Series> curve(storage::Reader& reader, const storage::RunDetail& run,
                     const std::string& name, size_t points) {
  Series series;
  if (run.ranks.empty() || !has(run, name)) return series;
  const auto bins = reader.series(run.summary.id, name, run.ranks.front(), {}, points);
  if (!bins) return fail(bins);
  for (const storage::Bin& bin : *bins)
    series.append(static_cast<double>(bin.last_step),
                  bin.count > bin.nonfinite ? bin.mean : bin.last);
  return series;
}

}  // namespace

Result<RunFacts> readRunFacts(storage::Reader& reader, storage::RunId run, size_t points,
                              int64_t step) {
  RunFacts facts;
  auto detail = reader.run(run);
  if (!detail) return fail(detail);
  facts.detail = std::move(*detail);
  auto loss = curve(reader, facts.detail, "loss", points);
  if (!loss) return fail(loss);
  facts.loss = std::move(*loss);
  auto rate = curve(reader, facts.detail, "tokens_per_second", points);
  if (!rate) return fail(rate);
  facts.rate = std::move(*rate);
  auto predicted = readPredicted(reader, run);
  if (!predicted) return fail(predicted);
  if (!predicted->empty()) facts.predicted = predicted->front().timeline;
  const auto profiled = reader.profiled_steps(run);
  if (!profiled) return fail(profiled);
  if (profiled->empty()) return facts;
  facts.profiledStep = step > 0 ? step : profiled->back();
  auto spans = reader.spans(run, facts.profiledStep);
  if (!spans) return fail(spans);
  if (!spans->empty())
    facts.timeline = std::make_shared<const Timeline>(std::move(spans->front().spans.spans));
  return facts;
}

}  // namespace heddle::gui
