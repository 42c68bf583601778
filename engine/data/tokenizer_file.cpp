#include "engine/data/tokenizer_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/excerpt.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/data/byte_level.h"
#include "engine/data/tokenizer_json.h"
#include "engine/data/tokenizer_steps.h"
#include "engine/data/tokenizer_tokens.h"

namespace heddle::data {
namespace {

using nlohmann::json;

// Ids index a table: a damaged file must not ask for all of the memory.
/// Well-known models of a type.
std::string_view whose(std::string_view type) {
  if (type == "Unigram") return " (SentencePiece's, of T5, XLNet, ALBERT …)";
  if (type == "WordPiece") return " (of BERT)";
  return "";
}

Result<> check_model(const json& model) {
  if (!model.is_object()) return fail("no \"model\": not a Hugging Face tokenizer.json");
  const std::string type = type_of(model);
  // Files written before the type was: BPE is what has merges.
  const bool whole_words = type == "WordLevel";
  if (type != "BPE" && !whole_words && !(type.empty() && model.contains("merges")))
    return fail("model: type \"{}\"{} is not supported; valid: \"BPE\", \"WordLevel\"", type,
                whose(type));
  const json& dropout = member(model, "dropout");
  if (!dropout.is_null() && dropout != 0)
    return fail("model.dropout = {} is not supported; valid: null", json_text(dropout));
  if (!member(model, "vocab").is_object() || (!whole_words && !member(model, "merges").is_array()))
    return fail("model: \"vocab\" (an object) and \"merges\" (a list) are needed");
  return {};
}

Result<Ids> read_vocabulary(const json& vocab) {
  Ids ids;
  std::unordered_map<int32_t, std::string> by_id;
  for (const auto& [token, id] : vocab.items()) {
    if (!is_id(id))
      return fail("model.vocab: \"{}\" has the id {}; valid: 0 to {}", token, json_text(id),
                  kMaxTokens - 1);
    const auto [other, is_new] = by_id.emplace(id.get<int32_t>(), token);
    if (!is_new)
      return fail("model.vocab: \"{}\" and \"{}\" have the same id {}", other->second, token,
                  json_text(id));
    ids.emplace(token, id.get<int32_t>());
  }
  return ids;
}

/// `prefix`: what the right one has before it that their join has not.
Result<Merge> read_merge(const json& merge, const Ids& ids, size_t prefix) {
  std::string left;
  std::string right;
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    left = merge[0];
    right = merge[1];
  } else if (merge.is_string()) {
    const auto& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space != std::string::npos) {
      left = text.substr(0, space);
      right = text.substr(space + 1);
    }
  }
  if (left.empty() || right.size() <= prefix)
    return fail("{} is no merge; valid: [\"a\", \"b\"] or \"a b\"", json_text(merge));
  Merge result;
  for (const auto& [token, id] : {std::pair{left, &result.left},
                                  {right, &result.right},
                                  {left + right.substr(prefix), &result.merged}}) {
    const auto found = ids.find(token);
    if (found == ids.end())
      return fail("{} needs \"{}\", which vocab lacks", json_text(merge), token);
    *id = found->second;
  }
  return result;
}

Result<std::vector<Merge>> read_merges(const json& list, const Ids& ids, size_t prefix) {
  std::vector<Merge> merges;
  merges.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_string() && list[i].get_ref<const std::string&>().starts_with("#version"))
      continue;
    const auto merge = read_merge(list[i], ids, prefix);
    if (!merge) return fail("model.merges[{}]: {}", i, merge.error().message);
    merges.push_back(*merge);
  }
  return merges;
}

/// How the vocabulary has its symbols. `unit` is known.
void read_symbols(const json& model, const Ids& ids, SymbolRules& symbols) {
  symbols.prefix = text_of(model, "continuing_subword_prefix");
  symbols.suffix = text_of(model, "end_of_word_suffix");
  symbols.unknown = text_of(model, "unk_token");
  if (type_of(model) == "WordLevel" && symbols.unknown.empty()) symbols.unknown = "<unk>";
  symbols.fuses_unknown = flag(model, "fuse_unk", false);
  if (!flag(model, "byte_fallback", false)) return;
  for (const auto& [token, id] : ids)
    if (const auto byte = byte_of_fallback(token))
      symbols.fallback[static_cast<size_t>(*byte)] = id;
}

/// Counts the bytes that UTF-8 uses and the vocabulary lacks: texts lose them.
void warn_of_losses(const Ids& ids, TokenizerFile& file) {
  const SymbolRules& symbols = file.symbols;
  const std::string outcome = symbols.unknown.empty()
                                  ? "are left out of texts, as tokenizers does"
                                  : fmt::format("become \"{}\"", symbols.unknown);
  if (std::ranges::find(symbols.fallback, -1) == symbols.fallback.end()) return;
  if (file.whole_words == WholeWords::only) {
    file.warnings.push_back(fmt::format("words that the vocabulary lacks {}", outcome));
    return;
  }
  if (!file.spells_bytes) {
    file.warnings.push_back(
        fmt::format("characters that the vocabulary lacks {}: there is no byte fallback", outcome));
    return;
  }
  if (!symbols.prefix.empty() || !symbols.suffix.empty()) return;
  int missing = 0;
  for (int byte = 0; byte < 256; ++byte) {
    const bool in_utf8 = byte != 0xC0 && byte != 0xC1 && byte < 0xF5;
    if (in_utf8 && !ids.contains(spelling_of_byte(static_cast<unsigned char>(byte)))) ++missing;
  }
  if (missing > 0)
    file.warnings.push_back(fmt::format(
        "the vocabulary lacks {} of the 243 bytes of UTF-8: they {}", missing, outcome));
}

/// The kind of a model folder's other file; empty: unknown.
std::string other_file(const json& root) {
  const char* const wanted = "; valid: the tokenizer.json beside it";
  if (root.is_object() && root.contains("tokenizer_class"))
    return std::string("this is a tokenizer_config.json") + wanted;
  if (root.is_object() && root.contains("model_type"))
    return std::string("this is a model's config.json") + wanted;
  const bool is_vocabulary = root.is_object() && !root.empty() && std::ranges::all_of(root, is_id);
  if (is_vocabulary) return std::string("this is a vocabulary alone (vocab.json)") + wanted;
  return "";
}

Result<TokenizerFile> read_root(const json& root) {
  const json& model = member(root, "model");
  if (model.is_null())
    if (const std::string other = other_file(root); !other.empty()) return fail("{}", other);
  if (const auto done = check_model(model); !done) return fail(done);
  TokenizerFile file;
  if (const auto done = read_steps(root, file); !done) return fail(done);

  auto ids = read_vocabulary(member(model, "vocab"));
  if (!ids) return fail(ids);
  read_symbols(model, *ids, file.symbols);
  auto merges = read_merges(member(model, "merges"), *ids, file.symbols.prefix.size());
  if (!merges) return fail(merges);
  if (const auto done = read_added_tokens(member(root, "added_tokens"), *ids, file); !done)
    return fail(done);
  file.around = read_template(member(root, "post_processor"));
  file.vocabulary.assign(ids->begin(), ids->end());
  file.merges = std::move(*merges);
  if (flag(model, "ignore_merges", false)) file.whole_words = WholeWords::first;
  if (type_of(model) == "WordLevel") file.whole_words = WholeWords::only;
  warn_of_losses(*ids, file);
  return file;
}

}  // namespace

Result<TokenizerFile> parse_tokenizer_file(std::string_view text, const std::string& name) {
  // A protobuf whose first field is a piece: a message.
  if (text.starts_with("\n") && text.size() > 2 && text[2] == '\n')
    return fail(
        "{}: this is a SentencePiece model (tokenizer.model); valid: a tokenizer.json, as "
        "AutoTokenizer.from_pretrained(…).save_pretrained writes it",
        name);
  const Result<json> root = read_json(text, kTokenizerBudget);
  if (!root)
    return fail("{}: {}; valid: a Hugging Face tokenizer.json", name, root.error().message);
  auto file = read_root(*root);
  if (!file) return fail("{}: {}", name, excerpt(file.error().message));
  return file;
}

}  // namespace heddle::data
