// A tokenizer beside exported weights, as transformers' AutoTokenizer loads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "engine/data/tokenizer.h"

namespace heddle::data {

/// The pad token that a folder's tokenizer_config.json names; none where it names none, or there
/// is no folder.
Result<std::optional<int32_t>> pad_token(const Tokenizer& tokenizer, const std::string& settings);

/// Writes tokenizer.json, which is at `path`, and its settings into a folder: those in the folder
/// `settings` as they are; where that has no tokenizer_config.json, or is none, new ones.
/// `longest`: tokens of a text.
Result<> export_tokenizer(const std::string& path, const Tokenizer& tokenizer, int64_t longest,
                          const std::string& settings, const std::string& folder);

}  // namespace heddle::data
