// One host's share of a run from start to end.json: what `train` and the supervisor have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"

namespace heddle::launch {

struct RanksOutcome {
  runs::End end;
  std::string failed_output;  // what the first failing rank wrote to its rank-R.err
};

/// Takes the run directory for this process (an error if another one has it), starts the ranks of
/// its launch.json, writes state.json, keeps supervisor.E.hlog, waits for the end and writes
/// end.json. `secret`: of the run; all its hosts have the same. Ranks of one host need not be given
/// one. `started` is called once state.json is written. Ranks that do not fit on this host
/// (admission.h) are not started: the end says so, with exit code 2. An error means that no rank
/// was started, or that the end cannot be kept, and has its cause; end.json then says so too where
/// it can be written, signed where the secret is known, unless the directory is another process's.
Result<RanksOutcome> run_ranks(const std::string& run_dir, const std::string& engine,
                               double spawned_at, const std::optional<Secret>& secret,
                               const std::function<void(const runs::State&)>& started);

}  // namespace heddle::launch
