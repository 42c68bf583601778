// The loop over steps of one rank: data, step, telemetry, when to save, the end.
#pragma once

#include "base/result.h"
#include "engine/data/text_loader.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"
#include "engine/telemetry/log_writer.h"
#include "engine/train/resume.h"
#include "engine/train/runner.h"
#include "engine/train/saver.h"
#include "engine/train/validator.h"

namespace heddle::train {

/// How training ended, and the numbers of train's last line (rank 0 writes them to results.json).
struct Outcome {
  bool stopped = false;  // by SIGTERM, after a whole step and a checkpoint
  int64_t step = 0;      // the last one
  std::string unsaved =
      {};  // why the last checkpoint is missing: the run has failed, its results are kept
};

/// Trains from `beginning` to the recipe's last step, or until the ranks have agreed to stop after
/// one of them got SIGTERM. SIGUSR1 to any rank requests a checkpoint; the file checkpoint.name of
/// its run directory may name it. A step that begins takes either signal in; it is obeyed when that
/// step and those queued after it have ended. The numbers of a step are read while the next one is
/// under way if the runner can queue it (Runner::ahead), and before it begins wherever the rest may
/// depend on them. `saver`: nullptr if the run keeps no checkpoints; `validator`: nullptr if it
/// does not validate. The process groups must exist, and the runner's states must be loaded. An
/// error ends the run as failed.
Result<Outcome> train(const recipe::Recipe& recipe, const recipe::Layout& layout,
                      const runs::RankContext& context, Runner& runner,
                      const data::DataLoader& loader, const Beginning& beginning, Saver* saver,
                      Validator* validator, telemetry::LogWriter& log, c10::Device device);

}  // namespace heddle::train
