// Whether a run's ranks start again after one has failed, by the recipe's [restart].
//
// On one host its supervisor decides. Of several the one of rank 0's host does: once its own ranks
// are gone it listens where they had met, and the other supervisors report there, each when its
// ranks are gone (restart_talk.h). It starts its own ranks before it tells the others to, so that
// theirs find the rendezvous open; what the ranks prove to each other holds for one attempt alone.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/secret.h"
#include "engine/launch/rank_group.h"
#include "engine/launch/restart_talk.h"
#include "engine/runs/launch.h"
#include "engine/runs/run_files.h"

namespace heddle::launch {

struct Restart {
  int32_t count = 0;  // of the run so far, this one too
  std::string cause;  // the failure
};

/// Seconds to wait before the restart of that number (1: the first).
double backoff_of(const recipe::Restart& allowed, int64_t number);

class Restarts {
 public:
  /// All but the secret must outlive it.
  Restarts(const runs::Launch& launch, const RanksWork& work, const Secret& secret,
           RankGroup& group, RankGroup::Log log);

  /// After the group's ranks have ended: waits for the time of their next attempt. None: the run
  /// has ended; `end` then says why it is not restarted where that is not plain.
  std::optional<Restart> after(runs::End& end);

  /// Tells the other hosts whether the ranks have started again.
  void tell_others(const Result<>& started);

 private:
  std::optional<Restart> decide(runs::End& end, const AttemptFailure& own);
  std::optional<Restart> follow(runs::End& end, const AttemptFailure& own);
  Result<std::string> cause_of_all(const AttemptFailure& own);
  Restart next() const;
  AttemptFailure failure_of(const runs::End& end) const;
  RestartTalk talk() const;

  const runs::Launch& launch_;
  const RanksWork& work_;
  Secret secret_;
  RankGroup& group_;
  RankGroup::Log log_;
  int64_t done_ = 0;                     // restarts by this supervisor
  std::string cause_;                    // of the last one
  std::unique_ptr<RestartHost> others_;  // the hosts that wait to be told
};

}  // namespace heddle::launch
