// `convert`: weights between Hugging Face's folders and checkpoints of Heddle's.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::checkpoint {

/// FROM a checkpoint: TO becomes a Hugging Face folder (F32). FROM a Hugging Face folder: TO
/// becomes a checkpoint at step 0 without optimizer state, to start from by `model.checkpoint`. TO
/// must not exist; it gets its name when all is written. Holds a few pieces of a tensor in memory.
Result<> convert(const std::string& from, const std::string& to);

}  // namespace heddle::checkpoint
