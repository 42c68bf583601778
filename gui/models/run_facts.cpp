#include "gui/models/run_facts.h"

#include <algorithm>
#include <cmath>

#include "gui/models/inherited_curves.h"

namespace heddle::gui {
namespace {

/// A metric of the lowest rank, behind what the run has inherited of it.
Result<Series> curveOf(storage::Reader& reader, const storage::RunDetail& run,
                       const std::string& name, size_t points, Series inherited) {
  if (run.ranks.empty() || std::ranges::find(run.series, name) == run.series.end())
    return inherited;
  auto own = readCurve(reader, run.summary.id, name, run.ranks.front(), {}, points);
  if (!own || inherited.empty()) return own;
  for (size_t i = 0; i < own->size(); ++i) inherited.append(own->x()[i], own->y()[i]);
  return inherited;
}

}  // namespace

Result<RunFacts> readRunFacts(storage::Reader& reader, storage::RunId run, size_t points,
                              int64_t step, int64_t rank) {
  RunFacts facts;
  auto detail = reader.run(run);
  if (!detail) return fail(detail);
  facts.detail = std::move(*detail);
  auto inherited = readInheritedCurves(reader, facts.detail.summary, points);
  if (!inherited) return fail(inherited);
  InheritedCurves before = inherited->value_or(InheritedCurves());
  auto loss = curveOf(reader, facts.detail, "loss", points, std::move(before.loss));
  if (!loss) return fail(loss);
  facts.loss = std::move(*loss);
  auto rate = curveOf(reader, facts.detail, "tokens_per_second", points, std::move(before.rate));
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
