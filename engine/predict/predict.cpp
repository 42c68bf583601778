#include "engine/predict/predict.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/cost/checks.h"
#include "engine/cost/executor.h"
#include "engine/holdings/states.h"
#include "engine/predict/machine.h"
#include "engine/predict/plan_hash.h"
#include "engine/predict/planner.h"
#include "engine/predict/predict_program.h"
#include "engine/predict/published_interval.h"
#include "engine/predict/rank_outcome.h"
#include "engine/predict/stage_parts.h"
#include "engine/predict/throughput.h"

namespace heddle::predict {
namespace {

/// Every pipeline rank's whole step.
Result<std::vector<RankOutcome>> whole_steps(const recipe::Recipe& recipe, const Machine& machine,
                                             const PredictOptions& options,
                                             int64_t validation_bytes) {
  const cost::CostModel model(machine.rates);
  const recipe::Layout layout(recipe);
  const int64_t pp = recipe.parallelism.pp;
  std::vector<SimulatedRank> ranks;
  std::vector<cost::RankProgram> programs;
  ranks.reserve(static_cast<size_t>(pp));
  for (int64_t stage = 0; stage < pp; ++stage) {
    if (options.cancelled()) return fail("{}", kCancelled);
    const int64_t rank = stage * (recipe.hardware.ranks / pp);
    auto planned = capture_and_plan(recipe, rank, machine.rates, step::Work::train,
                                    validation_bytes, options.capture, options.budgets);
    if (!planned) return fail(planned);
    const int64_t beyond = machine.rates.process_bytes +
                           beyond_arena(planned->plan.memory, validation_bytes) +
                           checkpoint_bytes(recipe, layout, rank, planned->plan.graph);
    ranks.push_back({rank, stage, std::move(planned->plan), {}, {}});
    const passes::Plan& plan = ranks.back().plan;
    ranks.back().memory = cost::memory_use(plan.graph, plan.memory,
                                           holdings::states_of(recipe, layout, rank), beyond);
    programs.push_back(cost::program_of(ranks.back().plan.graph, model));
  }
  std::vector<cost::Simulated> simulated = cost::simulate(programs);
  std::vector<RankOutcome> outcomes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].simulated = std::move(simulated[i]);
    outcomes.push_back(outcome_of(ranks[i], model, options.timeline));
  }
  return outcomes;
}

/// The ranks' parts of the document.
void add(plan::Document& document, RankOutcome outcome, int64_t ranks) {
  plan::RankFigures& figures = outcome.figures;
  figures.ranks = ranks;
  if (figures.peak_bytes > document.peak_bytes) {
    document.peak_bytes = figures.peak_bytes;
    document.peak_rank = figures.rank;
    document.memory = figures.memory;
  }
  // The slowest stage is the step; its parts are those that are shown.
  if (figures.step_seconds > document.step_seconds) {
    document.step_seconds = figures.step_seconds;
    document.exposed_seconds = figures.exposed_seconds;
  }
  document.collectives = std::max(document.collectives, outcome.collectives);
  document.ranks_shown.push_back(figures);
  const auto before = static_cast<int64_t>(document.buckets.size());
  for (plan::Exposed& exposed : outcome.exposed) {
    if (exposed.bucket >= 0) exposed.bucket += before;
    document.exposed.push_back(std::move(exposed));
  }
  for (plan::BucketFigures& bucket : outcome.buckets) document.buckets.push_back(std::move(bucket));
  for (const auto& [group, bytes] : outcome.bytes_by_group)
    document.bytes_by_group[group] = std::max(document.bytes_by_group[group], bytes);
  if (!outcome.timeline.spans.empty()) document.timelines.push_back(std::move(outcome.timeline));
}

/// By how far runs on this host were off; nothing of too few. What is predicted is within: runs
/// whose error the refinement has not taken up make it wider.
std::optional<plan::Interval> interval_here(const plan::Document& document,
                                            const Machine& machine) {
  const cost::Trust trust = cost::trust_here(machine.gpu ? "cuda" : "cpu");
  if (!trust.step || !trust.peak) return std::nullopt;
  const auto bytes = static_cast<double>(document.peak_bytes);
  return plan::Interval{document.step_seconds * std::min(trust.step->low, 1.0),
                        document.step_seconds * std::max(trust.step->high, 1.0),
                        bytes * std::min(trust.peak->low, 1.0),
                        bytes * std::max(trust.peak->high, 1.0),
                        "nine times in ten, by how far the runs here since it was calibrated were "
                        "off their predictions"};
}

/// How sure a plan is: by runs here, else by what was published of that hardware.
void add_interval(plan::Document& document, const Machine& machine) {
  document.refined_by_runs = machine.rates.refinement.runs;
  document.never_measured = machine.never_measured;
  document.busy_now = machine.busy_now;
  if (machine.uncertain > 0) document.interval = interval_here(document, machine);
  if (!document.interval && machine.rates.device)
    add_published_interval(document, machine.eight_bits);
}

}  // namespace

Result<plan::Document> predict(const recipe::Recipe& asked, const PredictOptions& options) {
  auto machine = machine_of(
      asked, options.hardware.empty() ? asked.hardware.name : options.hardware, options.executor);
  if (!machine) return fail(machine);
  return predict(asked, *machine, options);
}

Result<plan::Document> predict(const recipe::Recipe& asked, const Machine& machine,
                               const PredictOptions& options) {
  if (machine.program) return predict_program(asked, machine, options);
  const auto begin = Clock::now();
  recipe::Recipe recipe = asked;
  recipe.hardware.device = machine.gpu ? "cuda" : "cpu";
  // Others hold all logits.
  if (options.executor != cost::kExecutorNames.front()) recipe.training.loss_chunks = 1;
  // Devices of the catalogue without units for 8 bits: a remark says so.
  if (machine.rates.device && !machine.eight_bits) recipe.precision.float8 = recipe::Float8::none;
  const auto validation = plan_validation(recipe, 0, machine.rates);
  if (!validation) return fail(validation);
  const int64_t validation_bytes = validation->memory.arena_bytes;

  const auto captured = options.capture(recipe, step::Work::train);
  if (!captured) return fail(captured);
  const bool whole = captured->nodes * recipe.micro_batches() <= options.most_nodes;
  auto outcomes = whole
                      ? whole_steps(recipe, machine, options, validation_bytes)
                      : steps_by_parts(recipe, machine, options, captured->graph, validation_bytes);
  if (!outcomes) return fail(outcomes);

  plan::Document document;
  document.hardware = machine.name;
  document.hardware_words = machine.words;
  document.executor = options.executor;
  document.ranks = recipe.hardware.ranks;
  document.limit_bytes = machine.limit_bytes;
  document.peak_flops = machine.peak_flops;
  document.sources = machine.sources;
  document.remarks = machine.remarks;
  document.uncertain = machine.uncertain;
  document.uncertain_words = machine.uncertain_words;
  document.choice = outcomes->front().choice;
  std::vector<std::string> hashes;
  for (RankOutcome& outcome : *outcomes) {
    hashes.push_back(outcome.plan_hash);
    add(document, std::move(outcome), recipe.hardware.ranks / recipe.parallelism.pp);
  }
  for (const plan::RankFigures& rank : document.ranks_shown)
    document.bubble_seconds +=
        rank.bubble_seconds / static_cast<double>(document.ranks_shown.size());
  if (whole) document.plan_hash = joined_hash(hashes);
  std::stable_sort(document.exposed.begin(), document.exposed.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  document.exposed.resize(std::min(document.exposed.size(), kMaxExposed));
  add_throughput(document, recipe, machine.eight_bits);
  add_interval(document, machine);
  document.plan_seconds = seconds_since(begin);
  return document;
}

}  // namespace heddle::predict
