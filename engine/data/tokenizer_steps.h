// The steps of a tokenizer.json: on a text before merging, on tokens after it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {

/// Reads normalizer, pre_tokenizer and decoder of a whole file, and what they leave to merge.
/// Errors name the part.
Result<> read_steps(const nlohmann::json& root, TokenizerFile& file);

}  // namespace heddle::data
