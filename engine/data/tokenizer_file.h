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
#include "engine/data/pre_tokenizer.h"

namespace heddle::data {

/// What a tokenizer.json may hold: the largest have 260,000 words and 600,000 merges, in 35 MB.
inline constexpr Budget kTokenizerBudget{
    .bytes = size_t{256} << 20, .values = 8'000'000, .depth = 32};

/// What a tokenizer.json says.
struct TokenizerFile {
  PreTokenizer pre_tokenizer;
  std::vector<std::pair<std::string, int32_t>>
      vocabulary;  // as spelled; added tokens may repeat it
  std::vector<Bpe::Merge> merges;
  bool ignore_merges = false;
  std::vector<AddedToken> raw_added_tokens;         // looked for first: normalized = false
  std::vector<AddedToken> normalized_added_tokens;  // looked for in the rest
  std::optional<int32_t> bos_id;
  std::optional<int32_t> eos_id;
};

/// Errors name `name` and the part of the file.
Result<TokenizerFile> parse_tokenizer_file(std::string_view json, const std::string& name);

}  // namespace heddle::data
