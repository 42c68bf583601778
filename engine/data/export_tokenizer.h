// A tokenizer beside exported weights, as transformers' AutoTokenizer loads it.
#pragma once

#include <string>

#include "base/result.h"
#include "engine/data/tokenizer.h"

namespace heddle::data {

/// Writes tokenizer.json, which lies at `path` as it is, tokenizer_config.json and
/// special_tokens_map.json into a folder. `longest`: tokens of a text.
Result<> export_tokenizer(const std::string& path, const Tokenizer& tokenizer, int64_t longest,
                          const std::string& folder);

}  // namespace heddle::data
