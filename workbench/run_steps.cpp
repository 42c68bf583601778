#include "workbench/run_steps.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/read_json.h"
#include "engine/recipe/resolve.h"
#include "storage/difference.h"

namespace heddle::workbench {
namespace {

/// None of a recipe that says no layout.
recipe::Layout layout_of(const std::string& text) {
  const recipe::Recipe recipe = recipe::resolve(recipe::parse(text, "recipe")).recipe;
  return recipe.parallelism.*recipe::kRest.degree > 0 ? recipe::Layout(recipe) : recipe::Layout();
}

int64_t microseconds(double seconds) { return std::llround(seconds * 1e6); }

/// None where nothing was predicted, or by another version.
Result<std::shared_ptr<const plan::Document>> read_document(storage::Reader& reader,
                                                            storage::RunId run) {
  const auto kept = reader.plan(run);
  if (!kept) return fail(kept);
  if (!*kept) return nullptr;
  const auto read = read_json((*kept)->document, telemetry::kPlanDocument);
  if (!read) return nullptr;
  try {
    auto document = std::make_shared<plan::Document>(plan::from_json(*read));
    document->plan_hash = (*kept)->hash;
    return document;
  } catch (const nlohmann::json::exception&) {
    return nullptr;
  }
}

/// The shown rank of the rank's stage: ranks of a stage follow one another.
const plan::RankFigures* figures_of(const plan::Document& document, int64_t rank) {
  const plan::RankFigures* found = nullptr;
  for (const plan::RankFigures& shown : document.ranks_shown)
    if (shown.rank <= rank && (!found || shown.rank > found->rank)) found = &shown;
  return found;
}

plan::MemoryBytes measured_as_planned(plan::MemoryBytes memory, double measured) {
  memory[plan::Category::other] = 0;
  memory[plan::Category::other] = std::llround(measured) - memory.total();
  return memory;
}

/// The hash of the plan that the run executed; empty: it reported none.
std::string executed_plan(const storage::RunDetail& run) {
  const auto hash = run.environment.find("plan");
  if (hash == run.environment.end()) return {};
  const auto* text = std::get_if<std::string>(&hash->second);
  return text ? *text : std::string();
}

/// Memory that the plan decides counts as planned; the rest of the measurement is no plan's.
std::optional<plan::MemoryBytes> measured_memory(storage::Reader& reader, storage::RunId run,
                                                 int32_t rank, const plan::RankFigures* planned) {
  if (!planned) return std::nullopt;
  const auto resident = reader.series(run, "resident_bytes", rank, {}, 1);
  if (!resident || resident->empty() || !std::isfinite(resident->front().max)) return std::nullopt;
  return measured_as_planned(planned->memory, resident->front().max);
}

}  // namespace

std::vector<int64_t> RunSteps::ranks() const {
  std::vector<int64_t> ranks;
  if (document)
    for (const plan::RankFigures& shown : document->ranks_shown) ranks.push_back(shown.rank);
  if (ranks.empty() && !measured.empty()) ranks.push_back(measured.begin()->first);
  return ranks;
}

const plan::RankTimeline* RunSteps::timeline(int64_t rank) const {
  const plan::RankFigures* figures = document ? figures_of(*document, rank) : nullptr;
  if (!figures) return nullptr;
  const auto found =
      std::ranges::find(document->timelines, figures->rank, &plan::RankTimeline::rank);
  return found == document->timelines.end() ? nullptr : &*found;
}

bool RunSteps::has(Kind kind, int64_t rank) const {
  return kind == Kind::measured ? measured.contains(rank) : timeline(rank) != nullptr;
}

std::optional<Side> RunSteps::side(Kind kind, int64_t rank) const {
  if (!has(kind, rank)) return std::nullopt;
  if (kind == Kind::measured) return measured.at(rank);
  const plan::RankFigures* figures = figures_of(*document, rank);
  return Side{.name = {},
              .rank = rank,
              .stage = figures->stage,
              .step_us = microseconds(figures->step_seconds),
              .spans = timeline(rank)->spans,
              .buckets = document->buckets,
              .plan_hash = document->plan_hash,
              .memory = figures->memory,
              .moments = timeline(rank)->memory};
}

Result<RunSteps> read_steps(storage::Reader& reader, const storage::RunDetail& run, int64_t step) {
  RunSteps steps;
  steps.id = run.summary.id;
  steps.run = run.summary.name;
  steps.step = step;
  auto document = read_document(reader, run.summary.id);
  if (!document) return fail(document);
  steps.document = std::move(*document);
  const auto profiled = reader.profiled_steps(run.summary.id);
  if (!profiled) return fail(profiled);
  if (step == 0 && !profiled->empty()) steps.step = profiled->back();
  auto spans = reader.spans(run.summary.id, steps.step);
  if (!spans) return fail(spans);
  const std::string executed = executed_plan(run);
  if (steps.document)
    steps.plan =
        std::make_shared<const StepPlan>(*steps.document, layout_of(run.recipe),
                                         executed.empty() || executed == steps.document->plan_hash);
  for (storage::RankSpans& each : *spans) {
    const auto seconds =
        reader.samples(run.summary.id, "step_seconds", each.rank, {steps.step, steps.step});
    if (!seconds) return fail(seconds);
    Side side{.name = {},
              .rank = each.rank,
              .stage = 0,
              .step_us = seconds->empty() ? 0 : microseconds(seconds->back().value),
              .spans = std::move(each.spans.spans),
              .buckets = {},
              .plan_hash = executed,
              .memory = {},
              .moments = std::move(each.spans.memory)};
    for (const telemetry::Span& span : side.spans)
      side.step_us = std::max(side.step_us, span.start_us + span.duration_us);
    if (steps.document) {
      const plan::RankFigures* planned = figures_of(*steps.document, each.rank);
      if (planned) side.stage = planned->stage;
      side.buckets = steps.document->buckets;
      if (executed == steps.document->plan_hash)
        side.memory = measured_memory(reader, run.summary.id, each.rank, planned);
    }
    steps.measured.emplace(each.rank, std::move(side));
  }
  if (steps.measured.empty()) steps.step = 0;
  return steps;
}

Result<PeakMemory> read_peak_memory(storage::Reader& reader, const storage::RunDetail& run) {
  const auto document = read_document(reader, run.summary.id);
  if (!document) return fail(document);
  PeakMemory memory;
  if (!*document) return memory;
  memory.predicted = (*document)->memory;
  if (executed_plan(run) != (*document)->plan_hash) return memory;
  std::optional<double> peak;
  if (const auto result = run.results.find("peak_bytes"); result != run.results.end())
    peak = storage::number_of(result->second);
  if (!peak) {  // the run has not ended
    const auto metrics = reader.metric_summaries(run.summary.id);
    if (!metrics) return fail(metrics);
    if (const auto resident = metrics->find("resident_bytes"); resident != metrics->end())
      peak = resident->second.max;
  }
  if (peak && std::isfinite(*peak))
    memory.measured = measured_as_planned((*document)->memory, *peak);
  return memory;
}

std::optional<Pair> pair_of(const RunSteps& left, Kind left_kind, const RunSteps& right,
                            Kind right_kind, int64_t rank) {
  auto a = left.side(left_kind, rank), b = right.side(right_kind, rank);
  if (!a || !b) return std::nullopt;
  const bool one_run = left.id == right.id;
  const auto name = [one_run](const RunSteps& of, Kind kind) -> std::string {
    if (one_run) return kind == Kind::predicted ? "the prediction" : "the measurement";
    return kind == Kind::predicted ? of.run + "'s prediction" : of.run;
  };
  a->name = name(left, left_kind);
  b->name = name(right, right_kind);
  return Pair{std::move(*a), std::move(*b)};
}

std::optional<Pair> usual_pair(const RunSteps& left, const RunSteps& right, int64_t rank) {
  if (left.id == right.id) return pair_of(left, Kind::predicted, right, Kind::measured, rank);
  auto pair = pair_of(left, Kind::measured, right, Kind::measured, rank);
  return pair ? std::move(pair) : pair_of(left, Kind::predicted, right, Kind::predicted, rank);
}

}  // namespace heddle::workbench
