// `convert`: weights between Hugging Face's folders and checkpoints of Heddle's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/checkpoint/hugging_face.h"

namespace heddle::checkpoint {

/// The checkpoint that is meant by a folder: itself, or of a run's folder of them the newest.
std::string checkpoint_meant(const std::string& folder);

/// Lines for who asked: see HuggingFaceCheckpoint::notes.
using Notes = std::vector<std::string>;

/// The rest of a Hugging Face folder, besides config and weights.
using WriteBeside = std::function<Result<>(const std::string& folder)>;

/// FROM a checkpoint, or a run's folder of them (the newest): TO becomes a Hugging Face folder as
/// `how` says, with what `beside` writes. FROM a Hugging Face folder: TO becomes a checkpoint at
/// step 0 without optimizer state, to start from by `model.checkpoint`, with the companions of the
/// weights in it. TO must not exist; it gets its name when all is written. Holds a few pieces of a
/// tensor in memory.
Result<Notes> convert(const std::string& from, const std::string& to, const Export& how = {},
                      const WriteBeside& beside = {});

}  // namespace heddle::checkpoint
