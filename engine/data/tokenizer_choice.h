// The tokenizer of a recipe, and what parts its documents.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/data/tokenizer.h"
#include "engine/recipe/recipe.h"

namespace heddle::data {

/// data.tokenizer, data.bos, data.eos.
struct TokenizerChoice {
  std::string path;
  std::string bos = {};  // a token, "none", or "": what the tokenizer's files say
  std::string eos = {};
};

TokenizerChoice tokenizer_of(const recipe::Data& data);

/// The tokenizer with the tokens of the recipe around documents. Errors begin with the key.
Result<Tokenizer> load_tokenizer(const TokenizerChoice& choice);

/// The part of the choice that changes a text's tokens, without the tokenizer's file: a store of
/// other tokens has another record.
nlohmann::ordered_json record_of(const TokenizerChoice& choice);

/// "Each document ends with </s>."; empty where nothing parts documents.
std::string parting_of(const Tokenizer& tokenizer);

/// Warnings before training: that nothing separates documents, and the tokenizer's own
/// warnings, as sentences.
std::vector<std::string> warnings_of(const Tokenizer& tokenizer);

}  // namespace heddle::data
