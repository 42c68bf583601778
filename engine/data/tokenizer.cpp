#include "engine/data/tokenizer.h"

#include <xxhash.h>

#include <algorithm>
#include <set>

#include "base/read_file.h"
#include "base/utf8.h"
#include "engine/data/byte_level.h"
#include "engine/data/piece_cache.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {
namespace {

/// A token by its id.
struct Entry {
  std::string spelling;
  std::string bytes;
  bool present = false;
};

std::string with_replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string with_spaces(std::string spelling) {
  return with_replaced(std::move(spelling), kMetaspace, " ");
}

// A literal text, except for the spelling's spaces.
std::string without_metaspaces(const std::string& spelling, const std::string& bytes) {
  return spelling.find(kMetaspace) == std::string::npos ? bytes
                                                        : with_replaced(spelling, kMetaspace, "");
}

constexpr std::string_view kReplacement = "\uFFFD";

}  // namespace

struct Tokenizer::Parts {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  LeadingSpaces leading_spaces;
  bool joins_by_spaces = false;
  AddedTokens raw_added_tokens;
  AddedTokens normalized_added_tokens;
  Unit unit;
  Bpe bpe;
  PieceCache cache;
  std::vector<Entry> entries;
  Words ids;
  bool spells_bytes = false;
  SpecialTokens special;
  DocumentTokens around_documents;
  std::vector<std::string> warnings;

  Result<> encode_piece(std::string_view piece, std::vector<int32_t>& out) {
    const uint64_t hash = XXH3_64bits(piece.data(), piece.size());
    if (const auto known = cache.find(piece, hash); !known.empty()) {
      out.insert(out.end(), known.begin(), known.end());
      return {};
    }
    const size_t before = out.size();
    if (auto done = bpe.encode(piece, out); !done) return done;
    cache.keep(piece, hash, std::span(out).subspan(before));
    return {};
  }

  /// A byte that is not UTF-8, which is not normalized or split.
  Result<> encode_byte(char byte, std::vector<int32_t>& out) {
    std::string piece(1, byte);
    if (spells_bytes && unit == Unit::characters)
      piece = spelling_of_byte(static_cast<unsigned char>(byte));
    return bpe.symbols().has(piece) ? encode_piece(piece, out)
                                    : encode_utf8(kReplacement, true, out);
  }

  Result<> encode_plain(std::string_view text, bool is_first, std::vector<int32_t>& out) {
    return pre_tokenizer.split(text, is_first,
                               [&](std::string_view piece) { return encode_piece(piece, out); });
  }

  /// Takes the tokens of one set out of a text; `rest` encodes the text between them, given
  /// where it begins.
  template <typename Rest>
  static Result<> encode_around(AddedTokens& tokens, std::string_view text,
                                std::vector<int32_t>& out, Rest rest) {
    size_t from = 0;
    while (const auto found = tokens.find(text, from)) {
      if (auto done = rest(text.substr(from, found->place.begin - from), from); !done) return done;
      out.push_back(found->id);
      from = found->place.end;
    }
    return rest(text.substr(from), from);
  }

  Result<> encode_normalized(std::string_view text, bool is_first, std::vector<int32_t>& out) {
    return encode_around(normalized_added_tokens, text, out,
                         [&](std::string_view plain, size_t begin) {
                           return encode_plain(plain, is_first && begin == 0, out);
                         });
  }

  /// `goes_on`: other text comes before it.
  Result<> encode_utf8(std::string_view text, bool goes_on, std::vector<int32_t>& out) {
    return encode_around(
        raw_added_tokens, text, out, [&](std::string_view part, size_t begin) -> Result<> {
          const bool is_first = begin == 0 && !goes_on;
          if (normalizer.is_empty()) return encode_normalized(part, is_first, out);
          const auto normalized = normalizer.normalize(std::string(part), begin == 0 && goes_on);
          if (!normalized) return fail(normalized);
          return encode_normalized(*normalized, is_first, out);
        });
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::load(const std::string& path) {
  const auto text = read_file(path, kTokenizerBudget.bytes);
  if (!text) return fail("{}; valid: a Hugging Face tokenizer.json", text.error().message);
  return parse(*text, path, read_named_tokens(path));
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& name,
                                   const NamedTokens& named) {
  auto file = parse_tokenizer_file(json, name);
  if (!file) return fail(file);

  std::vector<Entry> entries;
  Words ids;
  Words words;
  const auto add = [&](const std::string& spelling, int32_t id, std::string bytes) {
    if (static_cast<size_t>(id) >= entries.size()) entries.resize(id + 1);
    entries[id] = {spelling, std::move(bytes), true};
    ids.insert_or_assign(spelling, id);
  };
  const SymbolRules& symbols = file->symbols;
  const bool by_bytes = symbols.unit == Unit::bytes;
  const auto text_of = [&](const std::string& spelling) {
    return file->spells_bytes ? spelling : with_spaces(spelling);
  };
  for (const auto& [spelling, id] : file->vocabulary) {
    const auto bytes = bytes_of_spelling(spelling);
    if (!by_bytes) words.emplace(spelling, id);
    if (by_bytes && bytes) words.emplace(*bytes, id);
    std::string text = file->spells_bytes ? bytes.value_or(spelling) : text_of(spelling);
    const auto byte = byte_of_fallback(spelling);
    if (byte && symbols.fallback[static_cast<size_t>(*byte)] == id)
      text = std::string(1, static_cast<char>(*byte));
    if (!symbols.suffix.empty() && text.ends_with(symbols.suffix))
      text.replace(text.size() - symbols.suffix.size(), symbols.suffix.size(), " ");
    add(spelling, id, std::move(text));
  }
  std::set<std::string, std::less<>> added;
  const auto add_token = [&](const AddedToken& token, const std::string& text) {
    added.insert(token.content);
    add(token.content, token.id, text_of(text));
  };
  for (const AddedToken& token : file->raw_added_tokens) add_token(token, token.content);
  for (AddedToken& token : file->normalized_added_tokens) {
    auto normalized = file->normalizer.normalize(token.content);  // as the text it is sought in
    if (!normalized) return fail("{}: {}", name, normalized.error().message);
    add_token(token, file->normalizer.spells_bytes() ? token.content : *normalized);
    token.content = std::move(*normalized);
  }
  std::erase_if(file->normalized_added_tokens,
                [](const AddedToken& token) { return token.content.empty(); });

  auto raw = AddedTokens::make(std::move(file->raw_added_tokens));
  if (!raw) return fail(raw);
  auto normalized = AddedTokens::make(std::move(file->normalized_added_tokens));
  if (!normalized) return fail(normalized);
  Tokenizer tokenizer(std::unique_ptr<Parts>(
      new Parts{.normalizer = std::move(file->normalizer),
                .pre_tokenizer = std::move(file->pre_tokenizer),
                .leading_spaces = file->leading_spaces,
                .joins_by_spaces = file->joins_by_spaces,
                .raw_added_tokens = std::move(*raw),
                .normalized_added_tokens = std::move(*normalized),
                .unit = symbols.unit,
                .bpe = Bpe(std::move(words), symbols, std::move(file->merges), file->whole_words),
                .cache = {},
                .entries = std::move(entries),
                .ids = std::move(ids),
                .spells_bytes = file->spells_bytes,
                .special = {},
                .around_documents = {},
                .warnings = std::move(file->warnings)}));
  Parts& parts = *tokenizer.parts_;
  parts.warnings.insert(parts.warnings.end(), named.warnings.begin(), named.warnings.end());
  const TokenLookup lookup{
      .id_of = [&](std::string_view token) { return tokenizer.id_of(token); },
      .token_of = [&](int32_t id) { return tokenizer.token_of(id); },
      .is_added = [&](std::string_view token) { return added.contains(token); }};
  parts.special = resolve(named, file->around, lookup, parts.warnings);
  parts.around_documents = document_tokens(named, file->around, parts.special);
  return tokenizer;
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, bool goes_on) {
  std::vector<int32_t> out;
  out.reserve(text.size() / 3);
  const size_t whole = text.size();
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    if (const auto done =
            parts_->encode_utf8(text.substr(0, valid), goes_on || text.size() < whole, out);
        !done)
      return fail(done);
    text.remove_prefix(valid);
    if (!text.empty()) {
      if (const auto done = parts_->encode_byte(text.front(), out); !done) return fail(done);
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  const LeadingSpaces& leading = parts_->leading_spaces;
  for (const int32_t& id : ids) {
    if (id < 0 || id >= vocab_size()) continue;
    if (parts_->joins_by_spaces && !text.empty()) text += ' ';
    const Entry& entry = parts_->entries[id];
    text += leading.all_of_first_token && &id == &ids.front()
                ? without_metaspaces(entry.spelling, entry.bytes)
                : entry.bytes;
  }
  const size_t spaces = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(std::min(spaces, leading.most));
}

int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(parts_->entries.size()); }
const SpecialTokens& Tokenizer::special_tokens() const { return parts_->special; }
std::optional<int32_t> Tokenizer::bos_id() const { return parts_->around_documents.before; }
std::optional<int32_t> Tokenizer::eos_id() const { return parts_->around_documents.after; }
void Tokenizer::part_documents(const DocumentTokens& tokens) { parts_->around_documents = tokens; }
const std::vector<std::string>& Tokenizer::warnings() const { return parts_->warnings; }

std::optional<int32_t> Tokenizer::id_of(std::string_view token) const {
  const auto found = parts_->ids.find(token);
  if (found == parts_->ids.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Tokenizer::token_of(int32_t id) const {
  if (id < 0 || id >= vocab_size() || !parts_->entries[id].present) return std::nullopt;
  return parts_->entries[id].spelling;
}

}  // namespace heddle::data
