#include "engine/data/export_tokenizer.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "base/json_text.h"
#include "base/read_file.h"
#include "engine/checkpoint/companions.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {
namespace {

bool has_settings(const std::string& folder) {
  std::error_code unknown;
  return std::filesystem::exists(folder + '/' + checkpoint::kTokenizerConfig, unknown);
}

Result<> write_settings(const Tokenizer& tokenizer, const checkpoint::SpecialTokenIds& tokens,
                        int64_t longest, const std::string& folder) {
  nlohmann::ordered_json special = nlohmann::ordered_json::object();
  const auto name = [&](const char* key, std::optional<int32_t> id) {
    const auto token = id ? tokenizer.token_of(*id) : std::nullopt;
    if (token) special[key] = *token;
  };
  name("bos_token", tokens.bos);
  name("eos_token", tokens.eos);
  name("pad_token", tokens.pad);
  nlohmann::ordered_json config = special;
  config["tokenizer_class"] = "PreTrainedTokenizerFast";
  config["model_max_length"] = longest;
  config["clean_up_tokenization_spaces"] = false;
  if (auto done = write_atomically(folder + "/special_tokens_map.json",
                                   json_text(special, 2) + "\n", kReadable);
      !done)
    return done;
  return write_atomically(folder + '/' + checkpoint::kTokenizerConfig, json_text(config, 2) + "\n",
                          kReadable);
}

}  // namespace

Result<> export_tokenizer(const std::string& path, const Tokenizer& tokenizer,
                          const checkpoint::SpecialTokenIds& special, int64_t longest,
                          const std::string& settings, const std::string& folder) {
  const auto text = read_file(path, kTokenizerBudget.bytes);
  if (!text) return fail(text);
  if (has_settings(settings)) {
    if (auto done = checkpoint::copy_tokenizer(settings, folder); !done) return done;
  } else if (auto done = write_settings(tokenizer, special, longest, folder); !done) {
    return done;
  }
  return write_atomically(folder + "/tokenizer.json", *text, kReadable);
}

}  // namespace heddle::data
