#include "engine/data/tokenizer_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/excerpt.h"
#include "base/json_text.h"
#include "base/read_json.h"
#include "engine/data/byte_level.h"
#include "engine/data/tokenizer_json.h"
#include "engine/data/tokenizer_steps.h"

namespace heddle::data {
namespace {

using nlohmann::json;

// Ids index a table: a damaged file must not ask for all of the memory.
constexpr int32_t kMostTokens = 1 << 22;

constexpr std::array kUsualBos = {"<|begin_of_text|>", "<s>", "<|startoftext|>", "<bos>",
                                  "<|endoftext|>"};
constexpr std::array kUsualEos = {"<|end_of_text|>", "</s>", "<|endoftext|>", "<eos>"};

/// "", null and absent all mean: none.
bool is_none(const json& value) {
  return value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty());
}

bool is_id(const json& value) {
  return value.is_number_integer() && value >= 0 && value < kMostTokens;
}

/// Who has models of a type.
std::string_view whose(std::string_view type) {
  if (type == "Unigram") return " (SentencePiece's, of T5, XLNet, ALBERT …)";
  if (type == "WordPiece") return " (of BERT)";
  if (type == "WordLevel") return " (whole words)";
  return "";
}

Result<> check_model(const json& model) {
  if (!model.is_object()) return fail("no \"model\": not a Hugging Face tokenizer.json");
  const std::string type = type_of(model);
  // Files written before the type was: BPE is what has merges.
  if (type != "BPE" && !(type.empty() && model.contains("merges")))
    return fail("model: type \"{}\"{} is not supported; valid: \"BPE\"", type, whose(type));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!is_none(member(model, key)))
      return fail("model.{} = {} is not supported; valid: null", key,
                  json_text(member(model, key)));
  const json& dropout = member(model, "dropout");
  if (!dropout.is_null() && dropout != 0)
    return fail("model.dropout = {} is not supported; valid: null", json_text(dropout));
  if (!member(model, "vocab").is_object() || !member(model, "merges").is_array())
    return fail("model: \"vocab\" (an object) and \"merges\" (a list) are needed");
  return {};
}

using Ids = std::unordered_map<std::string, int32_t>;

Result<Ids> read_vocabulary(const json& vocab, Alphabet alphabet) {
  Ids ids;
  std::unordered_map<int32_t, std::string> by_id;
  for (const auto& [token, id] : vocab.items()) {
    if (!is_id(id))
      return fail("model.vocab: \"{}\" has the id {}; valid: 0 to {}", token, json_text(id),
                  kMostTokens - 1);
    const auto [other, is_new] = by_id.emplace(id.get<int32_t>(), token);
    if (!is_new)
      return fail("model.vocab: \"{}\" and \"{}\" have the same id {}", other->second, token,
                  json_text(id));
    ids.emplace(token, id.get<int32_t>());
  }
  for (int byte = 0; byte < 256; ++byte) {
    const bool by_bytes = alphabet == Alphabet::bytes;
    const std::string spelling = by_bytes ? spelling_of_byte(static_cast<unsigned char>(byte))
                                          : fmt::format("<0x{:02X}>", byte);
    if (!ids.contains(spelling))
      return fail("model.vocab lacks \"{}\", the byte 0x{:02X}: a {} has all 256", spelling, byte,
                  by_bytes ? "byte-level vocabulary" : "vocabulary with byte fallback");
  }
  return ids;
}

Result<Bpe::Merge> read_merge(const json& merge, const Ids& ids) {
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
  if (left.empty() || right.empty())
    return fail("{} is no merge; valid: [\"a\", \"b\"] or \"a b\"", json_text(merge));
  Bpe::Merge result;
  for (const auto& [token, id] :
       {std::pair{left, &result.left}, {right, &result.right}, {left + right, &result.merged}}) {
    const auto found = ids.find(token);
    if (found == ids.end())
      return fail("{} needs \"{}\", which vocab lacks", json_text(merge), token);
    *id = found->second;
  }
  return result;
}

Result<std::vector<Bpe::Merge>> read_merges(const json& list, const Ids& ids) {
  std::vector<Bpe::Merge> merges;
  merges.reserve(list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const auto merge = read_merge(list[i], ids);
    if (!merge) return fail("model.merges[{}]: {}", i, merge.error().message);
    merges.push_back(*merge);
  }
  return merges;
}

Result<> read_added_tokens(const json& list, TokenizerFile& file) {
  for (size_t i = 0; i < list.size(); ++i) {
    const json& entry = list[i];
    const json& id = member(entry, "id");
    const json& content = member(entry, "content");
    if (!is_id(id) || !content.is_string() || is_none(content))
      return fail("added_tokens[{}]: \"id\" (0 to {}) and \"content\" (a text) are needed", i,
                  kMostTokens - 1);
    AddedToken token{.id = id.get<int32_t>(),
                     .content = content.get<std::string>(),
                     .single_word = flag(entry, "single_word", false),
                     .lstrip = flag(entry, "lstrip", false),
                     .rstrip = flag(entry, "rstrip", false)};
    (flag(entry, "normalized", true) ? file.normalized_added_tokens : file.raw_added_tokens)
        .push_back(std::move(token));
  }
  return {};
}

/// The special tokens that a TemplateProcessing puts before and after a single text.
void read_template(const json& processor, TokenizerFile& file) {
  if (type_of(processor) == "Sequence") {
    for (const json& inner : member(processor, "processors")) read_template(inner, file);
    return;
  }
  if (type_of(processor) != "TemplateProcessing") return;
  bool after_text = false;
  for (const json& piece : member(processor, "single")) {
    if (piece.contains("Sequence")) after_text = true;
    const json& token = member(member(piece, "SpecialToken"), "id");
    if (!token.is_string()) continue;
    const json& ids = member(
        member(member(processor, "special_tokens"), token.get_ref<const std::string&>().c_str()),
        "ids");
    if (!ids.is_array() || ids.size() != 1 || !is_id(ids[0])) continue;
    (after_text ? file.eos_id : file.bos_id) = ids[0].get<int32_t>();
  }
}

template <typename Names>
std::optional<int32_t> usual_token(const TokenizerFile& file, const Names& names) {
  for (const std::string_view name : names) {
    for (const auto* tokens : {&file.raw_added_tokens, &file.normalized_added_tokens})
      for (const AddedToken& token : *tokens)
        if (token.content == name) return token.id;
  }
  return std::nullopt;
}

/// What else of a model's folder this is; empty: nothing known.
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

  auto ids = read_vocabulary(member(model, "vocab"), file.alphabet);
  if (!ids) return fail(ids);
  auto merges = read_merges(member(model, "merges"), *ids);
  if (!merges) return fail(merges);
  file.vocabulary.assign(ids->begin(), ids->end());
  file.merges = std::move(*merges);
  file.ignore_merges = flag(model, "ignore_merges", false);

  if (const auto done = read_added_tokens(member(root, "added_tokens"), file); !done)
    return fail(done);
  read_template(member(root, "post_processor"), file);
  if (!file.bos_id) file.bos_id = usual_token(file, kUsualBos);
  if (!file.eos_id) file.eos_id = usual_token(file, kUsualEos);
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
