#include "gui/views/compare/compare_data.h"

#include <algorithm>
#include <set>

#include "storage/difference.h"

namespace heddle::gui {
namespace {

/// In stores of older versions `vocab_size` may be 0, the tokenizer's size: a run that goes on from
/// such a one knows it, and the model is the same.
void fillVocabularies(std::vector<storage::Comparand>& runs) {
  constexpr auto kKey = "model.vocab_size";
  const auto sizeOf = [&](const storage::Comparand& run) {
    const auto found = run.recipe.find(kKey);
    return found == run.recipe.end() ? 0.0 : storage::number_of(found->second).value_or(0);
  };
  for (storage::Comparand& parent : runs) {
    if (!parent.recipe.contains(kKey) || sizeOf(parent) != 0) continue;
    for (const storage::Comparand& child : runs)
      if (child.summary.lineage && child.summary.lineage->parent == parent.summary.id &&
          sizeOf(child) > 0)
        parent.recipe[kKey] = child.recipe.at(kKey);
  }
}

Result<std::vector<int64_t>> commonSteps(storage::Reader& reader,
                                         const std::vector<storage::RunId>& runs) {
  std::optional<std::vector<int64_t>> common;
  for (const storage::RunId run : runs) {
    if (isPlanned(run)) continue;
    const auto steps = reader.profiled_steps(run);
    if (!steps) return fail(steps);
    if (!common) {
      common = *steps;
      continue;
    }
    std::vector<int64_t> both;
    std::ranges::set_intersection(*common, *steps, std::back_inserter(both));
    common = std::move(both);
  }
  return common.value_or(std::vector<int64_t>{});
}

/// The measured ranks; where none was measured, one of each pipeline stage.
std::vector<int64_t> ranksOf(const std::vector<ShownStep>& steps) {
  std::set<int64_t> measured, staged;
  for (const ShownStep& step : steps) {
    for (const auto& [rank, side] : step.facts.steps->measured) measured.insert(rank);
    for (const int64_t rank : step.facts.steps->ranks()) staged.insert(rank);
  }
  const std::set<int64_t>& ranks = measured.empty() ? staged : measured;
  return {ranks.begin(), ranks.end()};
}

ShownStep shownStepOf(storage::RunId run, StepFacts facts, int64_t rank) {
  ShownStep shown{.run = run, .facts = std::move(facts)};
  const workbench::RunSteps& steps = *shown.facts.steps;
  if (shown.facts.timeline)
    shown.counters =
        countersOf(*shown.facts.timeline, steps.plan.get(), rank, steps.measured.at(rank).moments);
  const plan::RankTimeline* planned = steps.timeline(rank);
  if (shown.facts.predicted && planned)
    shown.predictedCounters =
        countersOf(*shown.facts.predicted, steps.plan.get(), rank, planned->memory);
  return shown;
}

}  // namespace

size_t CompareData::indexOf(storage::RunId run) const {
  const auto found = std::ranges::find(comparison->runs, run, &storage::RunSummary::id);
  return static_cast<size_t>(found - comparison->runs.begin());
}

bool CompareData::hasPlansAlone() const {
  return !comparison->runs.empty() &&
         std::ranges::all_of(comparison->runs,
                             [](const storage::RunSummary& run) { return isPlanned(run.id); });
}

Result<CompareAnswer> CompareReader::read(storage::Reader& reader, const CompareQuery& query) {
  const auto changed = follow(reader, query);
  if (!changed) return fail(changed);
  CompareAnswer answer;
  for (const storage::RunId run : query.runs) {
    const auto known = present_.find(run);
    if (isPlanned(run) || (known != present_.end() && known->second)) answer.present.push_back(run);
  }
  if (answer.present.empty() || (!*changed && !query.anyway)) return answer;
  CompareData data;
  auto comparison = compare(reader, query, answer.present);
  if (!comparison) return fail(comparison);
  data.keys = comparedKeys(*comparison, false);
  data.comparison = std::make_shared<const storage::Comparison>(std::move(*comparison));
  for (const storage::RunId run : answer.present)
    if (const auto known = leftOut_.find(run); known != leftOut_.end())
      data.leftOut = std::max(data.leftOut, known->second);
  if (const auto read = readMemory(reader, query, data); !read) return fail(read);
  if (const auto read = readSteps(reader, query, data); !read) return fail(read);
  answer.data = std::move(data);
  return answer;
}

/// Whether one of the compared runs has changed; it is forgotten.
Result<bool> CompareReader::follow(storage::Reader& reader, const CompareQuery& query) {
  const auto changes = reader.runs_changed_since(cursor_);
  if (!changes) return fail(changes);
  cursor_ = changes->cursor;
  bool changed = false;
  const auto forget = [&](storage::RunId run) {
    details_.erase(run);
    recipes_.erase(run);
    memory_.erase(run);
    changed = changed || std::ranges::find(query.runs, run) != query.runs.end();
  };
  for (const storage::RunSummary& run : changes->changed) {
    present_[run.id] = !run.trashed;
    forget(run.id);
  }
  for (const storage::RunId run : changes->removed) {
    present_.erase(run);
    forget(run);
  }
  return changed;
}

Result<storage::Comparison> CompareReader::compare(storage::Reader& reader,
                                                   const CompareQuery& query,
                                                   const std::vector<storage::RunId>& runs) {
  std::vector<storage::Comparand> compared;
  for (const storage::RunId run : runs) {
    if (const auto plan = query.plans.find(run); plan != query.plans.end()) {
      compared.push_back(comparandOf(plan->second, run));
      continue;
    }
    if (!details_.contains(run)) {
      auto detail = reader.run(run);
      if (!detail) return fail(detail);
      const auto metrics = reader.metric_summaries(run);
      if (!metrics) return fail(metrics);
      leftOut_[run] = storage::add_metrics(detail->results, *metrics);
      details_[run] = std::move(*detail);
    }
    if (!recipes_.contains(run)) {
      auto recipe = reader.recipe_values(run);
      if (!recipe) return fail(recipe);
      recipes_[run] = std::move(*recipe);
    }
    const storage::RunDetail& detail = details_[run];
    compared.push_back({detail.summary, recipes_[run], detail.environment, detail.results});
  }
  fillVocabularies(compared);
  return storage::compare(std::move(compared));
}

Result<> CompareReader::readMemory(storage::Reader& reader, const CompareQuery& query,
                                   CompareData& data) {
  for (const storage::RunSummary& run : data.comparison->runs) {
    if (const auto plan = query.plans.find(run.id); plan != query.plans.end()) {
      data.memory.push_back({plan->second.prediction->document.memory, {}});
      continue;
    }
    if (!memory_.contains(run.id)) {
      auto memory = workbench::read_peak_memory(reader, details_[run.id]);
      if (!memory) return fail(memory);
      memory_[run.id] = *memory;
    }
    data.memory.push_back(memory_[run.id]);
  }
  return {};
}

Result<> CompareReader::readSteps(storage::Reader& reader, const CompareQuery& query,
                                  CompareData& data) {
  data.rank = query.rank;
  auto common = commonSteps(reader, query.timelines);
  if (!common) return fail(common);
  data.commonSteps = std::move(*common);
  const int64_t wanted = query.step > 0             ? query.step
                         : data.commonSteps.empty() ? 0
                                                    : data.commonSteps.back();
  for (const storage::RunSummary& run : data.comparison->runs) {
    if (std::ranges::find(query.timelines, run.id) == query.timelines.end()) continue;
    const auto plan = query.plans.find(run.id);
    auto facts = plan != query.plans.end()
                     ? stepFactsOf(plan->second, run.id, query.rank)
                     : readStepFacts(reader, details_[run.id], wanted, query.rank);
    if (!facts) return fail(facts);
    data.steps.push_back(shownStepOf(run.id, std::move(*facts), query.rank));
  }
  data.ranks = ranksOf(data.steps);
  return {};
}

Result<std::vector<storage::RunId>> newestRuns(storage::Reader& reader, size_t count) {
  const auto runs = reader.runs();
  if (!runs) return fail(runs);
  std::vector<storage::RunId> found;
  for (const storage::RunSummary& run : *runs)
    if (run.steps > 0 && found.size() < count) found.insert(found.begin(), run.id);
  return found;
}

}  // namespace heddle::gui
