#include "gui/models/step_facts.h"

#include <cmath>

namespace heddle::gui {

Result<StepFacts> readStepFacts(storage::Reader& reader, const storage::RunDetail& run,
                                int64_t step, int64_t rank) {
  auto steps = workbench::read_steps(reader, run, step);
  if (!steps) return fail(steps);
  StepFacts facts;
  if (const plan::RankTimeline* predicted = steps->timeline(rank))
    facts.predicted = std::make_shared<const Timeline>(
        predicted->spans, std::llround(steps->document->step_seconds * 1e6));
  if (const auto measured = steps->measured.find(rank); measured != steps->measured.end())
    facts.timeline = std::make_shared<const Timeline>(measured->second.spans);
  facts.steps = std::make_shared<const workbench::RunSteps>(std::move(*steps));
  return facts;
}

}  // namespace heddle::gui
