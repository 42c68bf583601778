// A tokenizer.json's added tokens, and those that its post-processor puts around a text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {

/// A vocabulary's words, as spelled, to their ids.
using Ids = std::unordered_map<std::string, int32_t>;

/// Reads added_tokens with the ids that the tokenizers library gives them: one that is in the
/// vocabulary has its id there, others follow each other. A file that says otherwise is warned of.
Result<> read_added_tokens(const nlohmann::json& list, const Ids& vocabulary, TokenizerFile& file);

/// Reads TemplateProcessing, RobertaProcessing and BertProcessing, alone or in a Sequence.
TemplateTokens read_template(const nlohmann::json& processor);

}  // namespace heddle::data
