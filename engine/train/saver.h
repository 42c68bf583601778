// Saving while training goes on: the states are copied at a step's end, a thread of each rank
// writes the copy, and one rank a folder gives the checkpoint its name when all have written.
//
// A save goes through stages, which all ranks enter at the same step's end: writing (every rank its
// file), naming (the keeper), tidying (the keeper removes what is old, or what has failed). Only
// the threads touch the disk; only `advance`, on the step's thread, talks to other ranks.
#pragma once

#include <future>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/checkpoint/manifest.h"
#include "engine/runs/launch.h"
#include "engine/step/staging.h"
#include "engine/telemetry/log_writer.h"
#include "engine/train/checkpoint_place.h"

namespace heddle::train {

/// One thread uses it. The functions that every rank must call at the same time say so. A disk that
/// fails is a warning in the log; Results are errors of the log alone.
class Saver {
 public:
  Saver(const recipe::Recipe& recipe, const runs::RankContext& context,
        const runtime::NamedTensors& states, CheckpointPlace place, c10::Device device,
        telemetry::LogWriter& log);

  /// Bytes of the copy that this rank keeps.
  int64_t staging_bytes() const { return staging_.bytes(); }

  /// Whether a save has been begun and not ended; the same on all ranks.
  bool saves() const { return stage_ != Stage::idle; }
  /// Whether this rank's thread is at work.
  bool busy() const;
  /// Every rank, after each step: the next stage, once no rank is busy.
  Result<> advance(bool any_busy);

  /// Every rank: waits for the save before, and begins to copy and write the states as they are
  /// after `step` steps. `samples`, `since`: see checkpoint::Manifest. `name`: one that is kept for
  /// good; any rank may know it.
  Result<> save(int64_t step, int64_t samples, int64_t since, const std::string& name = "");

  /// The folder of the save that was begun last.
  std::string newest() const;

  /// The states must stay as they are until this returns.
  void wait_until_copied();

  /// Every rank: waits until what was begun has its name.
  Result<> finish();
  /// Why the newest save has failed, the same on all ranks; empty: it has not.
  std::string failure() const;

 private:
  enum class Stage { idle, writing, naming, tidying };

  Result<> settle();
  Result<> written();
  Result<> named();
  Result<> tidied();
  Result<> failed(const std::string& error);
  Result<> tell(telemetry::Level level, const std::string& text);

  const recipe::Recipe& recipe_;
  runs::RankContext context_;
  CheckpointPlace place_;
  c10::Device device_;
  telemetry::LogWriter& log_;
  step::Staging staging_;

  Stage stage_ = Stage::idle;
  checkpoint::Manifest manifest_;  // of the save under way
  std::string name_;
  std::string failure_;  // of the newest save
  Clock::time_point begun_;
  double stopped_seconds_ = 0;  // training waited so long for the copy
  std::future<void> copied_;
  std::future<Result<std::string>> work_;
};

}  // namespace heddle::train
