#include "gui/views/compare/compare_data.h"

#include <algorithm>
#include <map>

#include "storage/difference.h"

namespace heddle::gui {
namespace {

constexpr size_t kPoints = 2000;

Result<std::vector<storage::Sample>> losses(storage::Reader& reader, const RunFacts& run) {
  if (run.detail.ranks.empty() || run.loss.empty()) return std::vector<storage::Sample>{};
  return reader.samples(run.detail.summary.id, "loss", run.detail.ranks.front());
}

Result<Series> differenceOf(storage::Reader& reader, const RunFacts& first,
                            const RunFacts& second) {
  const auto left = losses(reader, first);
  if (!left) return fail(left);
  const auto right = losses(reader, second);
  if (!right) return fail(right);
  std::map<int64_t, double> known;
  for (const storage::Sample& sample : *left) known[sample.step] = sample.value;
  Series difference;
  for (const storage::Sample& sample : *right)
    if (const auto found = known.find(sample.step); found != known.end())
      difference.append(static_cast<double>(sample.step), sample.value - found->second);
  return difference;
}

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

}  // namespace

Result<Present> presentRuns(storage::Reader& reader, const std::vector<storage::RunId>& runs) {
  const auto all = reader.runs();
  if (!all) return fail(all);
  std::map<storage::RunId, const storage::RunSummary*> known;
  for (const storage::RunSummary& run : *all) known[run.id] = &run;
  Present present;
  for (const storage::RunId id : runs) {
    if (isPlanned(id)) {
      present.runs.push_back(id);
      present.marks.push_back(fmt::format("{}", id));
      continue;
    }
    const auto found = known.find(id);
    if (found == known.end()) continue;
    const storage::RunSummary& run = *found->second;
    present.runs.push_back(id);
    present.marks.push_back(
        fmt::format("{} {} {} {}", id, run.name, storage::to_string(run.state), run.steps));
  }
  return present;
}

Result<CompareData> readCompareData(storage::Reader& reader,
                                    const std::vector<storage::RunId>& runs, const Plans& plans,
                                    int64_t step, int64_t rank) {
  CompareData data;
  data.rank = rank;
  std::vector<storage::Comparand> compared;
  auto common = commonSteps(reader, runs);
  if (!common) return fail(common);
  data.commonSteps = std::move(*common);
  const int64_t wanted = step > 0 ? step : data.commonSteps.empty() ? 0 : data.commonSteps.back();
  for (const storage::RunId run : runs) {
    const auto plan = plans.find(run);
    auto facts = plan != plans.end() ? factsOf(plan->second, run, rank)
                                     : readRunFacts(reader, run, kPoints, wanted, rank);
    if (!facts) return fail(facts);
    auto recipe = plan != plans.end() ? recipeValues(plan->second) : reader.recipe_values(run);
    if (!recipe) return fail(recipe);
    compared.push_back({facts->detail.summary, std::move(*recipe), facts->detail.environment,
                        facts->detail.results});
    if (auto ranks = facts->steps->ranks(); ranks.size() > data.ranks.size())
      data.ranks = std::move(ranks);
    data.runs.push_back(std::move(*facts));
  }
  fillVocabularies(compared);
  data.comparison = storage::compare(std::move(compared));
  if (data.runs.size() == 2 && !isPlanned(runs[0]) && !isPlanned(runs[1])) {
    auto difference = differenceOf(reader, data.runs[0], data.runs[1]);
    if (!difference) return fail(difference);
    data.lossDifference = std::move(*difference);
  }
  return data;
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
