// The Live page's next portion of a run: everything that came in since the last one. Plain data;
// read on the session's reading thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gui/models/contact.h"
#include "gui/models/inherited_curves.h"
#include "gui/models/predicted_timeline.h"
#include "gui/models/run_pace.h"
#include "gui/timeline/step_counters.h"
#include "gui/timeline/timeline_data.h"
#include "gui/views/live/departure_scan.h"
#include "storage/queries.h"

namespace heddle::gui {

/// How far a page has read, and the data it wants.
struct LiveCursor {
  storage::RunId run = 0;         // 0: the newest run that is going on, else the newest
  int64_t step = 0;               // the last step row read
  int64_t line = 0;               // the last log line read
  int64_t shownStep = 0;          // the profiled step on screen, 0: none yet
  int64_t wantedStep = 0;         // the profiled step to show, 0: the newest
  int32_t shownRanks = 0;         // timelines on screen: a step's ranks come in one after the other
  DepartureScan departures = {};  // how far it has come
};

/// Where a rank's measured step differs from its prediction.
struct RankSurprise {
  int64_t rank = 0;
  workbench::Surprise surprise;
};

/// The timelines of one profiled step.
struct StepTimelines {
  int64_t step = 0;
  std::vector<int32_t> ranks;
  std::vector<std::shared_ptr<const Timeline>> timelines;  // as `ranks`
  std::vector<PredictedTimeline> predicted;                // of some ranks, before the run
  std::vector<RankSurprise> surprises;                     // the largest first
  std::vector<Counters> counters, predictedCounters;       // as `timelines`, as `predicted`
  std::shared_ptr<const workbench::StepPlan> plan;         // none: nothing was predicted
};

struct LiveUpdate {
  std::vector<storage::RunSummary> runs;  // all, newest first
  std::optional<storage::RunDetail> run;  // none: the store has no run, or not this one any more
  Contact contact;                        // of that run
  RunPace pace;
  std::optional<Exposed> exposed;
  std::optional<std::vector<Ancestor>> ancestors;  // when the run is read first
  std::vector<storage::StepRow> steps;             // after the cursor
  std::optional<StepsBefore> before;               // `steps` are only the newest ones
  DepartureScan departures;
  std::vector<storage::LogLine> lines;
  std::vector<storage::LogGap> gaps;
  std::vector<int64_t> profiled;           // all profiled steps, ascending
  std::optional<StepTimelines> timelines;  // when they differ from what is shown
  bool more = false;                       // there is more to read at once
};

Result<LiveUpdate> readLive(storage::Reader& reader, const LiveCursor& cursor);

}  // namespace heddle::gui
