#include "gui/views/live/live_update.h"

#include <algorithm>

namespace heddle::gui {
namespace {

constexpr size_t kBatch = 20'000;  // rows a question: the page draws in between

storage::RunId chosen(const std::vector<storage::RunSummary>& runs) {
  const auto going = std::find_if(runs.begin(), runs.end(), [](const storage::RunSummary& run) {
    return !storage::has_ended(run.state);
  });
  if (going != runs.end()) return going->id;
  return runs.empty() ? 0 : runs.front().id;
}

Result<std::optional<StepTimelines>> readTimelines(storage::Reader& reader,
                                                   const LiveCursor& cursor,
                                                   const std::vector<int64_t>& profiled,
                                                   size_t ranks) {
  if (profiled.empty()) return std::nullopt;
  int64_t step = profiled.back();
  if (std::binary_search(profiled.begin(), profiled.end(), cursor.wantedStep)) {
    step = cursor.wantedStep;
  }
  const bool complete = cursor.shownRanks >= static_cast<int64_t>(ranks);
  if (step == cursor.shownStep && complete) return std::nullopt;
  auto spans = reader.spans(cursor.run, step);
  if (!spans) return fail(spans);
  if (step == cursor.shownStep && static_cast<int64_t>(spans->size()) == cursor.shownRanks) {
    return std::nullopt;
  }
  auto predicted = readPredicted(reader, cursor.run);
  if (!predicted) return fail(predicted);
  StepTimelines result;
  result.step = step;
  result.predicted = std::move(*predicted);
  for (storage::RankSpans& rank : *spans) {
    result.ranks.push_back(rank.rank);
    result.timelines.push_back(std::make_shared<const Timeline>(std::move(rank.spans.spans)));
  }
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
  auto steps = reader.steps_after(cursor.run, cursor.step, kBatch);
  if (!steps) return fail(steps);
  auto lines = reader.lines_after(cursor.run, cursor.line, kBatch);
  if (!lines) return fail(lines);
  auto gaps = reader.gaps(cursor.run);
  if (!gaps) return fail(gaps);
  auto profiled = reader.profiled_steps(cursor.run);
  if (!profiled) return fail(profiled);
  auto timelines = readTimelines(reader, cursor, *profiled, run->ranks.size());
  if (!timelines) return fail(timelines);
  update.more = steps->size() == kBatch || lines->size() == kBatch;
  update.contact = contacts->of(run->summary);
  update.pace = *pace;
  update.run = std::move(*run);
  update.steps = std::move(*steps);
  update.lines = std::move(*lines);
  update.gaps = std::move(*gaps);
  update.profiled = std::move(*profiled);
  update.timelines = std::move(*timelines);
  return update;
}

}  // namespace heddle::gui
