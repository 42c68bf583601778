#include "engine/data/tokenizer_tokens.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/data/tokenizer_json.h"

namespace heddle::data {
namespace {

using nlohmann::json;

constexpr size_t kShown = 3;  // contradictions

/// ["<s>", 0]
std::optional<int32_t> id_of_pair(const json& pair) {
  if (!pair.is_array() || pair.size() != 2 || !is_id(pair[1])) return std::nullopt;
  return pair[1].get<int32_t>();
}

}  // namespace

Result<> read_added_tokens(const json& list, const Ids& vocabulary, TokenizerFile& file) {
  Ids added;
  std::vector<std::string> contradictions;
  auto next = static_cast<int32_t>(vocabulary.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const json& entry = list[i];
    const json& id = member(entry, "id");
    const std::string content = text_of(entry, "content");
    if (!is_id(id) || content.empty())
      return fail("added_tokens[{}]: \"id\" (0 to {}) and \"content\" (a text) are needed", i,
                  kMaxTokens - 1);
    const auto word = vocabulary.find(content);
    const bool is_word = word != vocabulary.end();
    const auto [place, is_new] = added.emplace(content, is_word ? word->second : next);
    if (is_new && !is_word) ++next;
    const AddedToken token{.id = place->second,
                           .content = content,
                           .single_word = flag(entry, "single_word", false),
                           .lstrip = flag(entry, "lstrip", false),
                           .rstrip = flag(entry, "rstrip", false)};
    if (id != token.id)
      contradictions.push_back(
          fmt::format("\"{}\" has the id {} ({}), not {} as added_tokens says", content, token.id,
                      is_word ? "as in model.vocab" : "the next that is free", id.get<int32_t>()));
    if (!is_new)  // the last one holds
      for (auto* tokens : {&file.raw_added_tokens, &file.normalized_added_tokens})
        std::erase_if(*tokens, [&](const AddedToken& other) { return other.content == content; });
    (flag(entry, "normalized", true) ? file.normalized_added_tokens : file.raw_added_tokens)
        .push_back(token);
  }
  for (size_t i = 0; i < std::min(kShown, contradictions.size()); ++i)
    file.warnings.push_back(contradictions[i]);
  if (contradictions.size() > kShown)
    file.warnings.push_back(
        fmt::format("{} more added tokens have other ids than the file says, as tokenizers has it",
                    contradictions.size() - kShown));
  return {};
}

TemplateTokens read_template(const json& processor) {
  const std::string type = type_of(processor);
  TemplateTokens around;
  if (type == "Sequence") {
    for (const json& inner : member(processor, "processors")) {
      const TemplateTokens one = read_template(inner);
      if (one.before) around.before = one.before;
      if (one.after) around.after = one.after;
    }
  } else if (type == "RobertaProcessing" || type == "BertProcessing") {
    around.before = id_of_pair(member(processor, "cls"));
    around.after = id_of_pair(member(processor, "sep"));
  } else if (type == "TemplateProcessing") {
    bool after_text = false;
    for (const json& piece : member(processor, "single")) {
      if (piece.contains("Sequence")) after_text = true;
      const std::string token = text_of(member(piece, "SpecialToken"), "id");
      if (token.empty()) continue;
      const json& ids = member(member(member(processor, "special_tokens"), token.c_str()), "ids");
      if (!ids.is_array() || ids.size() != 1 || !is_id(ids[0])) continue;
      (after_text ? around.after : around.before) = ids[0].get<int32_t>();
    }
  }
  return around;
}

}  // namespace heddle::data
