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

namespace heddle::data {

/// A loaded tokenizer.json: BPE over bytes (GPT-2, Llama 3, Qwen), with pre-tokenizers Split
/// (behavior Isolated), Digits and ByteLevel, alone or in a Sequence; or over characters with byte
/// fallback (SentencePiece's, as of Llama 2), with Metaspace or none. Of both the normal forms and
/// replacements of a normalizer, and added tokens with all their flags. What changes the ids and is
/// not read (other normalizers, dropout, …) is refused by `load`.
///
/// Threads: `encode` keeps a cache, so one thread at a time; the const members may run side by
/// side.
class Tokenizer {
 public:
  /// Reads a tokenizer.json. Errors name the file, the part of it, and what would be right.
  static Result<Tokenizer> load(const std::string& path);
  /// The same from memory; `name` stands for the file in errors.
  static Result<Tokenizer> parse(std::string_view json, const std::string& name);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a text, without the BOS and EOS that a post-processor adds. Added tokens written in
  /// the text are recognised. Bytes that are not UTF-8 become byte tokens, so nothing is lost.
  /// Fails only when the tokenizer's own regular expression runs out of its match limit.
  /// `goes_on`: it is the rest of a text, so that nothing is put before its first word.
  Result<std::vector<int32_t>> encode(std::string_view text, bool goes_on = false);

  /// The bytes that the ids stand for, added tokens as their text, without the leading space that
  /// SentencePiece's tokenizers put before a text; an id out of range gives nothing.
  std::string decode(std::span<const int32_t> ids) const;

  /// One more than the largest id: the rows an embedding needs.
  int32_t vocab_size() const;
  /// The tokens that begin and end a document: the post-processor's, else the added token of a
  /// usual name (<|begin_of_text|>, <s>, <|end_of_text|>, </s>, <|endoftext|> …); none where there
  /// is none.
  std::optional<int32_t> bos_id() const;
  std::optional<int32_t> eos_id() const;

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
