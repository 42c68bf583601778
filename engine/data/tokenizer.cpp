#include "engine/data/tokenizer.h"

#include <xxhash.h>

#include <fstream>
#include <sstream>

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

}  // namespace

struct Tokenizer::Parts {
  PreTokenizer pre_tokenizer;
  AddedTokens raw_added_tokens;
  AddedTokens normalized_added_tokens;
  Bpe bpe;
  PieceCache cache;
  std::vector<Entry> entries;
  Words ids;
  std::optional<int32_t> bos_id;
  std::optional<int32_t> eos_id;

  void encode_piece(std::string_view piece, std::vector<int32_t>& out) {
    const uint64_t hash = XXH3_64bits(piece.data(), piece.size());
    if (const auto known = cache.find(piece, hash); !known.empty()) {
      out.insert(out.end(), known.begin(), known.end());
      return;
    }
    const size_t before = out.size();
    bpe.encode(piece, out);
    cache.keep(piece, hash, std::span(out).subspan(before));
  }

  Result<> encode_plain(std::string_view text, std::vector<int32_t>& out) {
    return pre_tokenizer.split(text, [&](std::string_view piece) { encode_piece(piece, out); });
  }

  /// Takes the tokens of one set out of a text; `rest` encodes what lies between them.
  template <typename Rest>
  static Result<> encode_around(AddedTokens& tokens, std::string_view text,
                                std::vector<int32_t>& out, Rest rest) {
    size_t from = 0;
    while (const auto found = tokens.find(text, from)) {
      if (auto done = rest(text.substr(from, found->place.begin - from)); !done) return done;
      out.push_back(found->id);
      from = found->place.end;
    }
    return rest(text.substr(from));
  }

  Result<> encode_utf8(std::string_view text, std::vector<int32_t>& out) {
    return encode_around(raw_added_tokens, text, out, [&](std::string_view part) {
      return encode_around(normalized_added_tokens, part, out,
                           [&](std::string_view plain) { return encode_plain(plain, out); });
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
  return parse(*text, path);
}

Result<Tokenizer> Tokenizer::parse(std::string_view json, const std::string& name) {
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
  for (const auto& [spelling, id] : file->vocabulary) {
    const auto bytes = bytes_of_spelling(spelling);
    if (bytes) words.emplace(*bytes, id);
    add(spelling, id, bytes.value_or(spelling));
  }
  for (const auto* tokens : {&file->raw_added_tokens, &file->normalized_added_tokens})
    for (const AddedToken& token : *tokens) add(token.content, token.id, token.content);

  auto raw = AddedTokens::make(std::move(file->raw_added_tokens));
  if (!raw) return fail(raw);
  auto normalized = AddedTokens::make(std::move(file->normalized_added_tokens));
  if (!normalized) return fail(normalized);
  return Tokenizer(std::unique_ptr<Parts>(
      new Parts{.pre_tokenizer = std::move(file->pre_tokenizer),
                .raw_added_tokens = std::move(*raw),
                .normalized_added_tokens = std::move(*normalized),
                .bpe = Bpe(std::move(words), std::move(file->merges), file->ignore_merges),
                .cache = {},
                .entries = std::move(entries),
                .ids = std::move(ids),
                .bos_id = file->bos_id,
                .eos_id = file->eos_id}));
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text) {
  std::vector<int32_t> out;
  out.reserve(text.size() / 3);
  while (!text.empty()) {
    const size_t valid = valid_utf8_prefix(text);
    if (const auto done = parts_->encode_utf8(text.substr(0, valid), out); !done) return fail(done);
    text.remove_prefix(valid);
    if (!text.empty()) {
      parts_->encode_piece(text.substr(0, 1), out);
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string Tokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids)
    if (id >= 0 && id < vocab_size()) text += parts_->entries[id].bytes;
  return text;
}

int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(parts_->entries.size()); }
std::optional<int32_t> Tokenizer::bos_id() const { return parts_->bos_id; }
std::optional<int32_t> Tokenizer::eos_id() const { return parts_->eos_id; }

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
