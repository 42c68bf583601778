// The special tokens of a model, as the files of its folder name them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::data {

struct SpecialToken {
  std::string content;
  int32_t id = 0;
  bool operator==(const SpecialToken&) const = default;
};

/// Begin and end of a text, and what fills a batch. One token may have several of these parts.
struct SpecialTokens {
  std::optional<SpecialToken> bos;
  std::optional<SpecialToken> eos;
  std::optional<SpecialToken> pad;
};

/// A special token as a file names it: by its content, by its id, or as none.
struct NamedToken {
  std::string content;
  std::optional<int64_t> id;
  std::string where;  // file and member
  bool is_none() const { return content.empty() && !id; }
};

/// Special tokens as named by the files next to a tokenizer.json; empty where they name none.
struct NamedTokens {
  std::optional<NamedToken> bos;
  std::optional<NamedToken> eos;
  std::optional<NamedToken> pad;
  std::optional<bool> adds_bos;       // whether a text begins with it
  std::vector<std::string> warnings;  // files that cannot be read
};

/// The files next to a tokenizer.json that name special tokens.
inline constexpr std::array<const char*, 4> kNamingFiles = {
    "tokenizer_config.json", "special_tokens_map.json", "generation_config.json", "config.json"};

/// Looks at them in the tokenizer's folder; of a token, the first that names it holds.
NamedTokens read_named_tokens(const std::string& tokenizer);

/// The tokens that a post-processor (TemplateProcessing …) puts around a text.
struct TemplateTokens {
  std::optional<int32_t> before;
  std::optional<int32_t> after;
};

/// The tokens that separate documents.
struct DocumentTokens {
  std::optional<int32_t> before;
  std::optional<int32_t> after;
};

/// A tokenizer's tokens, to look up.
struct TokenLookup {
  std::function<std::optional<int32_t>(std::string_view content)> id_of;
  std::function<std::optional<std::string>(int32_t id)> token_of;
  std::function<bool(std::string_view content)> is_added;
};

/// The special tokens: the files name them, else the post-processor does, else usual names count
/// (<s>, </s>, <|endoftext|> …). Adds to `warnings` names that the tokenizer lacks.
SpecialTokens resolve(const NamedTokens& named, const TemplateTokens& around,
                      const TokenLookup& lookup, std::vector<std::string>& warnings);

/// The post-processor's tokens, else bos, where the files don't leave it out, and eos; bos, too,
/// where there is nothing else. One token that is both parts documents once, unless the
/// post-processor has it twice.
DocumentTokens document_tokens(const NamedTokens& named, const TemplateTokens& around,
                               const SpecialTokens& special);

}  // namespace heddle::data
