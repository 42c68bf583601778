// The byte-level alphabet: every byte as one printable character, as vocabularies spell their
// tokens. Source: GPT-2's encoder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle::data {

/// The bytes that a token's spelling means ("Ġthe" → " the"); none if a character is not of
/// the alphabet.
std::optional<std::string> bytes_of_spelling(std::string_view spelling);

/// The spelling of one byte (0x20 → "Ġ").
std::string spelling_of_byte(unsigned char byte);
std::string spelling_of_bytes(std::string_view bytes);

/// The byte that SentencePiece's vocabularies spell so: 0x0A of "<0x0A>".
std::optional<int> byte_of_fallback(std::string_view spelling);

}  // namespace heddle::data
