// `eval`: logits, loss and gradients of the first batch, for parity checks.
#pragma once

#include "base/result.h"
#include "engine/data/text_loader.h"
#include "engine/recipe/recipe.h"
#include "engine/runs/launch.h"
#include "engine/train/runner.h"

namespace heddle::train {

/// Runs step 0 without an update; it must be one micro-batch. Rank 0 writes launch.eval_to as
/// safetensors: logits [B, S, V] of the whole batch, loss, and grad.<Hugging Face name> in Hugging
/// Face's layout.
Result<> evaluate(const recipe::Recipe& recipe, const runs::RankContext& context, Runner& runner,
                  const data::DataLoader& loader);

}  // namespace heddle::train
