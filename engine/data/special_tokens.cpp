#include "engine/data/special_tokens.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/read_file.h"
#include "base/read_json.h"
#include "engine/data/tokenizer_json.h"

namespace heddle::data {
namespace {

using nlohmann::json;

constexpr Budget kFile{.bytes = size_t{64} << 20, .values = 4'000'000, .depth = 64};

/// The names of models that many train. No token is in both lists: what a token is for is not
/// guessed twice.
constexpr std::array kUsualBos = {
    "<|begin_of_text|>",       "<s>",  "<|startoftext|>", "<bos>", "<|bos|>",
    "<｜begin▁of▁sentence｜>", "[BOS]"};
constexpr std::array kUsualEos = {
    "<|end_of_text|>",       "</s>", "<|endoftext|>", "<eos>", "<|eos|>",
    "<｜end▁of▁sentence｜>", "[EOS]"};

struct SpecialPart {
  std::optional<NamedToken> NamedTokens::*token;
  std::string_view content;  // its name in files of tokens
  std::string_view id;       // its name in files of models
};
constexpr std::array kSpecialParts = {SpecialPart{&NamedTokens::bos, "bos_token", "bos_token_id"},
                                      SpecialPart{&NamedTokens::eos, "eos_token", "eos_token_id"},
                                      SpecialPart{&NamedTokens::pad, "pad_token", "pad_token_id"}};

/// "…", {"content": "…"}, null for none; nothing where it is neither.
std::optional<NamedToken> by_content(const json& value, std::string where) {
  if (value.is_null()) return NamedToken{"", {}, std::move(where)};
  std::string content = value.is_string() ? value.get<std::string>() : text_of(value, "content");
  if (content.empty()) return std::nullopt;
  return NamedToken{std::move(content), {}, std::move(where)};
}

/// A number, or a list whose first is meant; −1 means none.
std::optional<NamedToken> by_id(const json& value, std::string where) {
  const json& id = value.is_array() && !value.empty() ? value.front() : value;
  if (!id.is_number_integer()) return std::nullopt;
  const auto number = id.get<int64_t>();
  return NamedToken{"", number < 0 ? std::nullopt : std::optional(number), std::move(where)};
}

/// The members that are asked for; nothing where there is no such file.
std::optional<json> members_of(const std::string& path, std::vector<std::string>& warnings) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "bos_token",    "eos_token",    "pad_token",    "add_bos_token",
      "bos_token_id", "eos_token_id", "pad_token_id", "tokenizer_class"};
  if (access(path.c_str(), F_OK) != 0) return std::nullopt;
  const auto text = read_file(path, kFile.bytes);
  Result<json> read = text ? read_json_members(*text, kNames, kFile) : fail(text);
  if (read && read->is_object()) return std::move(*read);
  warnings.push_back(fmt::format("{}: {}: what it says of special tokens is not used", path,
                                 read ? "is no object" : read.error().message));
  return std::nullopt;
}

/// Whether a text begins with bos, where tokenizer_config.json says so by itself or by its class.
std::optional<bool> adds_bos(const json& members) {
  if (const json& adds = member(members, "add_bos_token"); adds.is_boolean())
    return adds.get<bool>();
  const std::string type = text_of(members, "tokenizer_class");
  for (const char* without : {"GPT2", "GPTNeoX", "Qwen2", "CodeGen"})
    if (type.starts_with(without)) return false;
  return std::nullopt;
}

template <typename Names>
std::optional<SpecialToken> usual_token(const Names& names, const TokenLookup& lookup) {
  for (const char* name : names)
    if (lookup.is_added(name)) return SpecialToken{name, *lookup.id_of(name)};
  return std::nullopt;
}

}  // namespace

NamedTokens read_named_tokens(const std::string& tokenizer) {
  NamedTokens named;
  const std::filesystem::path folder = std::filesystem::path(tokenizer).parent_path();
  for (const char* name : kNamingFiles) {
    const auto members = members_of((folder / name).string(), named.warnings);
    if (!members) continue;
    for (const auto& [token, content, id] : kSpecialParts)
      for (const bool is_id : {false, true}) {
        const auto found = members->find(is_id ? id : content);
        if (named.*token || found == members->end()) continue;
        std::string where = fmt::format("{}: {}", name, is_id ? id : content);
        named.*token =
            is_id ? by_id(*found, std::move(where)) : by_content(*found, std::move(where));
      }
    if (!named.adds_bos) named.adds_bos = adds_bos(*members);
  }
  return named;
}

SpecialTokens resolve(const NamedTokens& named, const TemplateTokens& around,
                      const TokenLookup& lookup, std::vector<std::string>& warnings) {
  const auto of_id = [&](std::optional<int64_t> id) -> std::optional<SpecialToken> {
    if (!id || *id < 0 || *id > INT32_MAX) return std::nullopt;
    const auto token = lookup.token_of(static_cast<int32_t>(*id));
    if (!token) return std::nullopt;
    return SpecialToken{*token, static_cast<int32_t>(*id)};
  };
  // Nothing: it is not named, or not as a token that is there.
  const auto find = [&](const std::optional<NamedToken>& name) -> std::optional<SpecialToken> {
    if (!name || name->is_none()) return std::nullopt;
    const auto id = name->id ? std::nullopt : lookup.id_of(name->content);
    auto found = id ? std::optional(SpecialToken{name->content, *id}) : of_id(name->id);
    if (!found)
      warnings.push_back(
          fmt::format("{} is {}, which the tokenizer lacks: it is not used", name->where,
                      name->id ? std::to_string(*name->id) : fmt::format("\"{}\"", name->content)));
    return found;
  };
  SpecialTokens special{find(named.bos), find(named.eos), find(named.pad)};
  if (!special.bos) special.bos = of_id(around.before);
  if (!special.eos) special.eos = of_id(around.after);
  const bool may_guess_bos = !named.bos || !named.bos->is_none();
  const bool may_guess_eos = !named.eos || !named.eos->is_none();
  if (!special.bos && may_guess_bos) special.bos = usual_token(kUsualBos, lookup);
  if (!special.eos && may_guess_eos) special.eos = usual_token(kUsualEos, lookup);
  return special;
}

DocumentTokens document_tokens(const NamedTokens& named, const TemplateTokens& around,
                               const SpecialTokens& special) {
  DocumentTokens tokens{around.before, around.after};
  const bool is_both = special.bos && special.bos == special.eos;
  if (!tokens.before && special.bos && named.adds_bos.value_or(!is_both))
    tokens.before = special.bos->id;
  if (!tokens.after && special.eos && tokens.before != special.eos->id)
    tokens.after = special.eos->id;
  if (!tokens.before && !tokens.after && special.bos) tokens.before = special.bos->id;
  return tokens;
}

}  // namespace heddle::data
