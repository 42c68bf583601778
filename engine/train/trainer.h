// The loop over steps of one rank: data, step, telemetry, checkpoints, the end.
#pragma once

#include "base/result.h"
#include "engine/data/text_loader.h"
#include "engine/launch/launch.h"
#include "engine/recipe/recipe.h"
#include "engine/telemetry/log_writer.h"
#include "engine/train/runner.h"

namespace heddle::train {

/// How training ended, and the numbers of train's last line (rank 0 writes them to results.json).
struct Outcome {
  bool stopped = false;  // by SIGTERM, after a whole step
};

/// Trains to the recipe's last step, or until the ranks have agreed to stop after one of them got
/// SIGTERM. The process groups exist and the runner's states are loaded. An error ends the run as
/// failed.
Result<Outcome> train(const recipe::Recipe& recipe, const launch::RankContext& context,
                      Runner& runner, const data::DataLoader& loader, telemetry::LogWriter& log,
                      c10::Device device);

}  // namespace heddle::train
