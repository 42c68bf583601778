// BPE tokenizers in Hugging Face's tokenizer.json form: text to token ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/data/special_tokens.h"

namespace heddle::data {

/// A loaded tokenizer.json: BPE over bytes (GPT-2, Llama 3, Qwen), over characters with byte
/// fallback (SentencePiece's, as of Llama 2), or over characters that it loses where the vocabulary
/// lacks them; or whole words (WordLevel). Ids equal the tokenizers library's. What changes
/// ids and is not read (other models, dropout, …) is refused by `load`; where a file contradicts
/// itself, or loses text, `warnings` says so.
///
/// Threads: `encode` keeps a cache, so one thread at a time; the const members may run side by
/// side.
class Tokenizer {
 public:
  /// Reads a tokenizer.json, and the files next to it that name its special tokens. Errors name the
  /// file, the part of it, and what would be right.
  static Result<Tokenizer> load(const std::string& path);
  /// The same from memory; errors name it `name`.
  static Result<Tokenizer> parse(std::string_view json, const std::string& name,
                                 const NamedTokens& named = {});

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a text, without the BOS and EOS that a post-processor adds. Added tokens written in
  /// the text are recognised. Bytes that are not UTF-8 become byte tokens, so nothing is lost;
  /// where the vocabulary has none, U+FFFD. Fails where the tokenizer's own expressions run out of
  /// their limits, and where a single word has millions of bytes.
  /// `goes_on`: it is the rest of a text, so that nothing is put before its first word.
  Result<std::vector<int32_t>> encode(std::string_view text, bool goes_on = false);

  /// The bytes that the ids stand for, added tokens as their text, without the leading space that
  /// SentencePiece's tokenizers put before a text; an id out of range gives nothing.
  std::string decode(std::span<const int32_t> ids) const;

  /// One more than the largest id: the rows an embedding needs.
  int32_t vocab_size() const;
  /// Special tokens as its folder names them.
  const SpecialTokens& special_tokens() const;
  /// The tokens that are put before and after each document; none where there is none.
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;
  /// Others from here on.
  void part_documents(const DocumentTokens& tokens);

  /// Contradictions in its files, unused parts, and lost text; lines without a name.
  const std::vector<std::string>& warnings() const;

  /// A token as tokenizer.json spells it ("Ġthe") to its id, and back; none for an id or token it
  /// lacks.
  std::optional<int32_t> id_of(std::string_view token) const;
  std::optional<std::string> token_of(int32_t id) const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace heddle::data
