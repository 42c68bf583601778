#include "gui/models/run_facts.h"

#include <algorithm>
#include <cmath>

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
                              int64_t step, int64_t rank) {
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
  auto steps = workbench::read_steps(reader, facts.detail, step);
  if (!steps) return fail(steps);
  if (const plan::RankTimeline* predicted = steps->timeline(rank))
    facts.predicted = std::make_shared<const Timeline>(
        predicted->spans, std::llround(steps->document->step_seconds * 1e6));
  if (const auto measured = steps->measured.find(rank); measured != steps->measured.end())
    facts.timeline = std::make_shared<const Timeline>(measured->second.spans);
  facts.steps = std::make_shared<const workbench::RunSteps>(std::move(*steps));
  return facts;
}

}  // namespace heddle::gui
