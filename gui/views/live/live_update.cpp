#include "gui/views/live/live_update.h"

#include <algorithm>
#include <cstdlib>

#include "gui/models/value.h"

namespace heddle::gui {
namespace {

constexpr size_t kInheritedPoints = 2000;
constexpr size_t kBatch = 20'000;  // rows a question: the page draws in between

storage::RunId chosen(const std::vector<storage::RunSummary>& runs) {
  const auto going = std::find_if(runs.begin(), runs.end(), [](const storage::RunSummary& run) {
    return storage::is_going(run.state);
  });
  if (going != runs.end()) return going->id;
  return runs.empty() ? 0 : runs.front().id;
}

/// All stages' surprises, the largest first.
std::vector<RankSurprise> surprisesOf(const workbench::RunSteps& steps) {
  constexpr size_t kMax = 3;
  std::vector<RankSurprise> all;
  for (const int64_t rank : steps.ranks()) {
    const auto pair = workbench::usual_pair(steps, steps, rank);
    if (!pair) continue;
    const workbench::Alignment alignment = workbench::align(pair->left, pair->right);
    for (workbench::Surprise& each : workbench::surprises(alignment, pair->left, pair->right, kMax))
      all.push_back({rank, std::move(each)});
  }
  std::stable_sort(all.begin(), all.end(), [](const RankSurprise& a, const RankSurprise& b) {
    return std::abs(a.surprise.difference_us) > std::abs(b.surprise.difference_us);
  });
  if (all.size() > kMax) all.resize(kMax);
  return all;
}

Result<std::optional<StepTimelines>> readTimelines(storage::Reader& reader,
                                                   const LiveCursor& cursor,
                                                   const std::vector<int64_t>& profiled,
                                                   const storage::RunDetail& run) {
  if (profiled.empty()) return std::nullopt;
  int64_t step = profiled.back();
  if (std::binary_search(profiled.begin(), profiled.end(), cursor.wantedStep)) {
    step = cursor.wantedStep;
  }
  const bool complete = cursor.shownRanks >= static_cast<int64_t>(run.ranks.size());
  if (step == cursor.shownStep && complete) return std::nullopt;
  auto steps = workbench::read_steps(reader, run, step);
  if (!steps) return fail(steps);
  if (step == cursor.shownStep && static_cast<int64_t>(steps->measured.size()) == cursor.shownRanks)
    return std::nullopt;
  StepTimelines result;
  result.step = step;
  result.predicted = predictedTimelines(*steps);
  result.plan = steps->plan;
  for (const PredictedTimeline& each : result.predicted) {
    const plan::RankTimeline* planned = steps->timeline(each.rank);
    result.predictedCounters.push_back(
        countersOf(*each.timeline, result.plan.get(), each.rank,
                   planned ? planned->memory : std::vector<plan::MemoryMoment>()));
  }
  for (const auto& [rank, side] : steps->measured) {
    result.ranks.push_back(static_cast<int32_t>(rank));
    result.timelines.push_back(std::make_shared<const Timeline>(side.spans));
    result.counters.push_back(countersOf(*result.timelines.back(), result.plan.get(), rank));
  }
  result.surprises = surprisesOf(*steps);
  return result;
}

}  // namespace

Result<LiveUpdate> readLive(storage::Reader& reader, const LiveCursor& wanted) {
  LiveUpdate update;
  auto runs = reader.runs();
  if (!runs) return fail(runs);
  update.runs = std::move(*runs);
  LiveCursor cursor = wanted;
  const bool there = std::any_of(update.runs.begin(), update.runs.end(),
                                 [&](const auto& run) { return run.id == cursor.run; });
  if (cursor.run != 0 && !there) return update;  // it was removed
  if (cursor.run == 0) cursor.run = chosen(update.runs);
  if (cursor.run == 0) return update;

  // The run's state is read before its rows: a run seen as ended has all of them.
  auto run = reader.run(cursor.run);
  if (!run) return fail(run);
  auto contacts = readContacts(reader);
  if (!contacts) return fail(contacts);
  auto pace = readPace(reader, run->summary);
  if (!pace) return fail(pace);
  auto exposed = exposedOf(resultOf(*run, "exposed_seconds"), resultOf(*run, "step_seconds"));
  if (!exposed) {
    auto soFar = readExposed(reader, cursor.run, run->ranks);
    if (!soFar) return fail(soFar);
    exposed = *soFar;
  }
  if (cursor.step == 0) {
    auto inherited = readInheritedCurves(reader, run->summary, kInheritedPoints);
    if (!inherited) return fail(inherited);
    update.inherited = std::move(*inherited);
  }
  auto steps = reader.steps_after(cursor.run, cursor.step, kBatch);
  if (!steps) return fail(steps);
  auto lines = reader.lines_after(cursor.run, cursor.line, kBatch);
  if (!lines) return fail(lines);
  auto gaps = reader.gaps(cursor.run);
  if (!gaps) return fail(gaps);
  auto profiled = reader.profiled_steps(cursor.run);
  if (!profiled) return fail(profiled);
  auto timelines = readTimelines(reader, cursor, *profiled, *run);
  if (!timelines) return fail(timelines);
  update.more = steps->size() == kBatch || lines->size() == kBatch;
  update.contact = contacts->of(run->summary);
  update.pace = *pace;
  update.exposed = exposed;
  update.run = std::move(*run);
  update.steps = std::move(*steps);
  update.lines = std::move(*lines);
  update.gaps = std::move(*gaps);
  update.profiled = std::move(*profiled);
  update.timelines = std::move(*timelines);
  return update;
}

}  // namespace heddle::gui
