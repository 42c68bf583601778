// tokenizer.json as Heddle understands it, checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "engine/data/added_tokens.h"
#include "engine/data/bpe.h"
#include "engine/data/normalizer.h"
#include "engine/data/pre_tokenizer.h"
#include "engine/data/special_tokens.h"

namespace heddle::data {

/// Limits of a tokenizer.json: the largest have 260,000 words and 600,000 merges, in 35 MB.
inline constexpr Budget kTokenizerBudget{
    .bytes = size_t{256} << 20, .values = 8'000'000, .depth = 32};

/// The spaces that decoding removes at the beginning of a text in SentencePiece's alphabet.
struct LeadingSpaces {
  size_t most = 0;                  // spaces of the text
  bool all_of_first_token = false;  // and of the first token
};

/// The content of a tokenizer.json.
struct TokenizerFile {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  LeadingSpaces leading_spaces;
  bool joins_by_spaces = false;  // decoding puts one between tokens
  std::vector<std::pair<std::string, int32_t>>
      vocabulary;  // as spelled; added tokens may repeat it
  SymbolRules symbols;
  bool spells_bytes = false;  // tokens are in the byte-level alphabet; else text, with kMetaspace
  std::vector<Merge> merges;
  WholeWords whole_words = WholeWords::none;
  std::vector<AddedToken> raw_added_tokens;         // looked for first: normalized = false
  std::vector<AddedToken> normalized_added_tokens;  // looked for in the rest
  TemplateTokens around;                            // each text
  std::vector<std::string> warnings;  // where the file contradicts itself, or loses text
};

/// Errors name `name` and the part of the file.
Result<TokenizerFile> parse_tokenizer_file(std::string_view json, const std::string& name);

}  // namespace heddle::data
