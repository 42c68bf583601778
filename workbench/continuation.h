// Going on from another run's checkpoint: what a resume or a fork would do, checked and said before
// anything starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage/queries.h"
#include "workbench/checkpoints.h"
#include "workbench/launch.h"

namespace heddle::workbench {

struct ContinueRequest {
  storage::Lineage::Kind kind = storage::Lineage::Kind::resume;
  storage::RunDetail parent;
  std::string checkpoint = {};         // of a fork: "30", "best", "step-30-best"; empty: the newest
  std::vector<std::string> sets = {};  // "key=value", on top of the recipe
  std::string recipe_text = {};        // empty: the parent's
  std::string name = {};               // empty: the parent's, lengthened to be unique
  std::string sets_called = "--set";   // the asker's word for them in messages
  std::vector<std::string> without = {};  // hosts that it goes on without, by name
  bool may_begin_again = false;           // where it has no checkpoint: as it began itself
};

/// The planned continuation.
struct Continuation {
  LaunchRequest launch;  // for workbench::launch
  SavedCheckpoint from;
  std::string path;        // the checkpoint's, on the first host
  std::string hosts = {};  // "without other, on loom, c (a spare)"; empty: all of the parent's
  int64_t last_step = 0;   // to which it trains
  std::string folder;      // of its checkpoints, in words
  std::string name;        // that the run gets, unless another takes it first
  std::vector<recipe::Change> changes;  // of the recipe, against the parent's
  std::vector<std::string> notes;       // what was passed over, or set otherwise than asked
};

/// Resume: the newest checkpoint that is whole, of a run that has ended, on to more steps than it
/// has. Fork: the checkpoint that is asked for. Both on the parent's hosts, or on those that are
/// left of them and on spares (hosts_left.h), with a recipe whose model fits the checkpoint. Looks
/// there: never call from the GUI thread.
Result<Continuation> plan_continuation(storage::Reader& reader, const ContinueRequest& request);

/// "resume of debug after step 30, to step 60 on …": a few lines for a terminal.
std::string to_text(const Continuation& continuation);

/// The text of a run's recipe for a new run: without a folder of checkpoints, which is the
/// old one's. `emptied`: set when it had one.
std::string as_new_recipe(const std::string& recipe_text, bool& emptied);
/// The same with keys set, to be edited before the run is forked.
Result<std::string> forked_recipe(const std::string& recipe_text,
                                  const std::vector<std::string>& sets,
                                  const std::string& sets_called = "--set");

}  // namespace heddle::workbench
