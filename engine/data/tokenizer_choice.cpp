#include "engine/data/tokenizer_choice.h"

namespace heddle::data {
namespace {

constexpr std::string_view kNone = "none";

/// The token around documents: the choice's, else as it is.
Result<> choose(const char* key, const std::string& token, const TokenizerChoice& choice,
                const Tokenizer& tokenizer, std::optional<int32_t>& id) {
  if (token.empty()) return {};
  id.reset();
  if (token == kNone) return {};
  id = tokenizer.id_of(token);
  if (id) return {};
  return fail("{}: \"{}\" is no token of {}; valid: one of its tokens, \"none\", or \"\"", key,
              token, choice.path);
}

nlohmann::ordered_json json_of(const std::optional<NamedToken>& token) {
  if (!token) return nullptr;
  if (token->id) return *token->id;
  return token->content;
}

}  // namespace

TokenizerChoice tokenizer_of(const recipe::Data& data) {
  return {data.tokenizer, data.bos, data.eos};
}

Result<Tokenizer> load_tokenizer(const TokenizerChoice& choice) {
  auto tokenizer = Tokenizer::load(choice.path);
  if (!tokenizer) return fail("data.tokenizer: {}", tokenizer.error().message);
  DocumentTokens around{tokenizer->bos_id(), tokenizer->eos_id()};
  if (auto done = choose("data.bos", choice.bos, choice, *tokenizer, around.before); !done)
    return fail(done);
  if (auto done = choose("data.eos", choice.eos, choice, *tokenizer, around.after); !done)
    return fail(done);
  tokenizer->part_documents(around);
  return tokenizer;
}

nlohmann::ordered_json record_of(const TokenizerChoice& choice) {
  nlohmann::ordered_json record = {{"bos", choice.bos}, {"eos", choice.eos}};
  if (!choice.bos.empty() && !choice.eos.empty()) return record;
  const NamedTokens named = read_named_tokens(choice.path);
  record["named"] = {{"bos", json_of(named.bos)}, {"eos", json_of(named.eos)}};
  if (named.adds_bos) record["named"]["adds_bos"] = *named.adds_bos;
  return record;
}

std::string parting_of(const Tokenizer& tokenizer) {
  const auto name = [&](std::optional<int32_t> id) {
    return id ? tokenizer.token_of(*id).value_or("") : "";
  };
  const std::string before = name(tokenizer.bos_id()), after = name(tokenizer.eos_id());
  if (!before.empty() && !after.empty())
    return fmt::format("Each document begins with {} and ends with {}.", before, after);
  if (!before.empty()) return fmt::format("Each document begins with {}.", before);
  if (!after.empty()) return fmt::format("Each document ends with {}.", after);
  return "";
}

std::vector<std::string> warnings_of(const Tokenizer& tokenizer) {
  std::vector<std::string> warnings;
  if (!tokenizer.bos_id() && !tokenizer.eos_id())
    warnings.push_back(
        "Nothing parts documents: neither the tokenizer's files nor data.bos and data.eos name a "
        "token for it.");
  for (const std::string& warning : tokenizer.warnings())
    warnings.push_back(fmt::format("data.tokenizer: {}.", warning));
  return warnings;
}

}  // namespace heddle::data
