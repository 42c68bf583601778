#include "gui/views/compare/planned_facts.h"

#include <QObject>
#include <algorithm>
#include <iterator>

#include "engine/recipe/parse.h"

namespace heddle::gui {
namespace {

/// As a run's steps hold it: with the spans that its timelines have taken.
std::shared_ptr<const plan::Document> wholeDocument(const Prediction& prediction) {
  auto document = std::make_shared<plan::Document>(prediction.document);
  for (size_t i = 0; i < document->timelines.size(); ++i) {
    std::vector<telemetry::Span>& spans = document->timelines[i].spans;
    for (const Stream stream : {Stream::compute, Stream::communication})
      std::ranges::copy(prediction.timelines[i]->lane(stream).spans(), std::back_inserter(spans));
    std::ranges::stable_sort(spans, {}, &telemetry::Span::start_us);
  }
  return document;
}

storage::Values resultsOf(const plan::Document& d) {
  storage::Values results = {{"predicted_step_seconds", d.step_seconds},
                             {"predicted_tokens_per_second_per_rank", d.tokens_per_second_per_rank},
                             {"predicted_exposed_seconds", d.exposed_seconds},
                             {"predicted_bubble_seconds", d.bubble_seconds},
                             {"predicted_peak_bytes", static_cast<double>(d.peak_bytes)},
                             {"predicted_collectives", static_cast<double>(d.collectives)}};
  if (!d.mfu.empty()) results["predicted_mfu"] = d.mfu.front().mfu;
  if (d.uncertain > 0) results["predicted_uncertain"] = d.uncertain;
  for (size_t i = 0; i < d.memory.bytes.size(); ++i)
    results[std::string("predicted_") + plan::kCategoryNames[i] + "_bytes"] =
        static_cast<double>(d.memory.bytes[i]);
  return results;
}

}  // namespace

storage::Comparand comparandOf(const PlannedRecipe& planned, storage::RunId id) {
  const plan::Document& document = planned.prediction->document;
  storage::Comparand run;
  run.summary.id = id;
  run.summary.name = planned.name.toStdString();
  run.summary.recipe_name =
      QObject::tr("predicted on %1").arg(QString::fromStdString(document.hardware)).toStdString();
  for (const auto& [key, value] : recipe::flatten(planned.recipe)) run.recipe[key] = value;
  run.environment = {{"executor", document.executor},
                     {"ranks", static_cast<double>(document.ranks)}};
  run.results = resultsOf(document);
  return run;
}

StepFacts stepFactsOf(const PlannedRecipe& planned, storage::RunId id, int64_t rank) {
  StepFacts facts;
  auto steps = std::make_shared<workbench::RunSteps>();
  steps->id = id;
  steps->run = planned.name.toStdString();
  steps->document = wholeDocument(*planned.prediction);
  if (const plan::RankTimeline* shown = steps->timeline(rank))
    facts.predicted =
        planned.prediction
            ->timelines[static_cast<size_t>(shown - steps->document->timelines.data())];
  facts.steps = std::move(steps);
  return facts;
}

}  // namespace heddle::gui
