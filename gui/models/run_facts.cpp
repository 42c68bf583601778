#include "gui/models/run_facts.h"

#include <algorithm>

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

Result<RunFacts> readRunFacts(storage::Reader& reader, storage::RunId run, size_t points) {
  RunFacts facts;
  auto detail = reader.run(run);
  if (!detail) return fail(detail);
  facts.detail = std::move(*detail);
  auto inherited = readInheritedLoss(reader, facts.detail.summary, points);
  if (!inherited) return fail(inherited);
  auto loss = curveOf(reader, facts.detail, "loss", points, std::move(*inherited));
  if (!loss) return fail(loss);
  facts.loss = std::move(*loss);
  auto step = readStepFacts(reader, facts.detail);
  if (!step) return fail(step);
  static_cast<StepFacts&>(facts) = std::move(*step);
  return facts;
}

}  // namespace heddle::gui
