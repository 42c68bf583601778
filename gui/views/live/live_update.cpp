#include "gui/views/live/live_update.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <map>
#include <thread>
#include <utility>

#include "engine/telemetry/metrics.h"
#include "gui/models/value.h"

namespace heddle::gui {
namespace {

constexpr size_t kBatch = 20'000;  // log lines a question: the page draws in between
constexpr size_t kMaxRows = 8192;  // step rows a question
constexpr size_t kMinOfRank = 16, kMaxOfRank = 400;  // of the newest
constexpr size_t kShares = 200;

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

/// A timeline for each side, and its rank; a step of many ranks has millions of spans, so that as
/// many are made at once as there are cores.
std::vector<std::shared_ptr<const Timeline>> timelinesOf(std::map<int64_t, workbench::Side> sides,
                                                         std::vector<int32_t>& ranks) {
  std::vector<std::shared_ptr<const Timeline>> timelines(sides.size());
  std::vector<std::vector<telemetry::Span>> spans;
  for (auto& [rank, side] : sides) {
    ranks.push_back(static_cast<int32_t>(rank));
    spans.push_back(std::move(side.spans));
  }
  std::atomic<size_t> next = 0;
  const auto make = [&] {
    for (size_t i = next++; i < spans.size(); i = next++)
      timelines[i] = std::make_shared<const Timeline>(std::move(spans[i]));
  };
  std::vector<std::future<void>> others;
  const size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (size_t i = 1; i < std::min(cores, spans.size()); ++i)
    others.push_back(std::async(std::launch::async, make));
  make();
  for (std::future<void>& other : others) other.get();
  return timelines;
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
  result.surprises = surprisesOf(*steps);
  std::map<int64_t, std::vector<plan::MemoryMoment>> memory;
  for (auto& [rank, side] : steps->measured) memory[rank] = std::move(side.moments);
  result.timelines = timelinesOf(std::move(steps->measured), result.ranks);
  for (size_t i = 0; i < result.ranks.size(); ++i)
    result.counters.push_back(countersOf(*result.timelines[i], result.plan.get(), result.ranks[i],
                                         memory[result.ranks[i]]));
  return result;
}

/// The exposed communication of the profiled steps before `step`, as shares of a typical step.
Result<> readProfiled(storage::Reader& reader, const storage::RunDetail& run, int64_t step,
                      const std::optional<Exposed>& typical, StepsBefore& before) {
  if (step <= 1 || !typical || typical->seconds <= 0) return {};
  const double stepSeconds = typical->seconds / typical->share;
  std::map<int64_t, telemetry::RankFold> folds;
  const telemetry::Metric& metric = telemetry::metric("exposed_seconds");
  for (const int32_t rank : run.ranks) {
    const auto bins =
        reader.series(run.summary.id, "exposed_seconds", rank, {0, step - 1}, kShares);
    if (!bins) return fail(bins);
    int64_t profiled = 0;
    for (const storage::Bin& bin : *bins) {
      profiled += bin.count;
      folds.try_emplace(bin.last_step, metric).first->second.add(rank, bin.mean / stepSeconds);
    }
    before.profiled = std::max(before.profiled, profiled);
  }
  for (const auto& [at, fold] : folds) before.exposedShares.push_back(fold.value());
  return {};
}

/// The newest steps alone: all there are may be millions.
Result<> readNewest(storage::Reader& reader, LiveUpdate& update) {
  const storage::RunDetail& run = *update.run;
  const size_t ranks = std::max<size_t>(1, run.ranks.size());
  auto steps =
      reader.newest_steps(run.summary.id, std::clamp(kMaxRows / ranks, kMinOfRank, kMaxOfRank));
  if (!steps) return fail(steps);
  update.steps = std::move(*steps);
  StepsBefore before;
  const auto metrics = reader.metric_summaries(run.summary.id);
  if (!metrics) return fail(metrics);
  for (const auto& [name, summary] : *metrics) before.latest[name] = summary.last;
  const auto first = std::ranges::min_element(
      update.steps, {}, [](const storage::StepRow& row) { return row.step.step; });
  if (first != update.steps.end()) {
    const Result<> read = readProfiled(reader, run, first->step.step, update.exposed, before);
    if (!read) return read;
  }
  update.before = std::move(before);
  return {};
}

Result<> readSteps(storage::Reader& reader, int64_t after, LiveUpdate& update) {
  if (after == 0) return readNewest(reader, update);
  auto steps = reader.steps_after(update.run->summary.id, after, kMaxRows);
  if (!steps) return fail(steps);
  if (steps->size() == kMaxRows) return readNewest(reader, update);
  update.steps = std::move(*steps);
  return {};
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
    auto ancestors = readAncestors(reader, run->summary);
    if (!ancestors) return fail(ancestors);
    update.ancestors = std::move(*ancestors);
  }
  auto lines = reader.lines_after(cursor.run, cursor.line, kBatch);
  if (!lines) return fail(lines);
  auto gaps = reader.gaps(cursor.run);
  if (!gaps) return fail(gaps);
  auto profiled = reader.profiled_steps(cursor.run);
  if (!profiled) return fail(profiled);
  auto timelines = readTimelines(reader, cursor, *profiled, *run);
  if (!timelines) return fail(timelines);
  update.more = lines->size() == kBatch;
  update.contact = contacts->of(run->summary);
  update.pace = *pace;
  update.exposed = exposed;
  update.run = std::move(*run);
  update.lines = std::move(*lines);
  update.gaps = std::move(*gaps);
  update.profiled = std::move(*profiled);
  update.timelines = std::move(*timelines);
  if (const Result<> read = readSteps(reader, cursor.step, update); !read) return fail(read);
  update.departures = cursor.departures;
  const bool ended = storage::has_ended(update.run->summary.state);
  if (const Result<> went = update.departures.goOn(reader, *update.run, ended); !went)
    return fail(went);
  return update;
}

}  // namespace heddle::gui
