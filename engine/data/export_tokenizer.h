// A tokenizer next to exported weights, as transformers' AutoTokenizer loads it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "engine/checkpoint/hugging_face.h"
#include "engine/data/tokenizer.h"

namespace heddle::data {

/// Writes tokenizer.json, which is at `path`, and its settings into a folder: those in the folder
/// `settings` as they are; where that has no tokenizer_config.json, new ones with these special
/// tokens. `longest`: tokens of a text.
Result<> export_tokenizer(const std::string& path, const Tokenizer& tokenizer,
                          const checkpoint::SpecialTokenIds& special, int64_t longest,
                          const std::string& settings, const std::string& folder);

}  // namespace heddle::data
