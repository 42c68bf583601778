#include "engine/data/export_tokenizer.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_file.h"
#include "base/read_json.h"
#include "engine/checkpoint/companions.h"
#include "engine/checkpoint/file_calls.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {
namespace {

bool has_settings(const std::string& folder) {
  std::error_code unknown;
  return !folder.empty() &&
         std::filesystem::exists(folder + '/' + checkpoint::kTokenizerConfig, unknown);
}

Result<> write_settings(const Tokenizer& tokenizer, int64_t longest, const std::string& folder) {
  nlohmann::ordered_json special = nlohmann::ordered_json::object();
  const auto name = [&](const char* key, std::optional<int32_t> id) {
    const auto token = id ? tokenizer.token_of(*id) : std::nullopt;
    if (token) special[key] = *token;
  };
  name("bos_token", tokenizer.bos_id());
  name("eos_token", tokenizer.eos_id());
  nlohmann::ordered_json config = special;
  config["tokenizer_class"] = "PreTrainedTokenizerFast";
  config["model_max_length"] = longest;
  config["clean_up_tokenization_spaces"] = false;
  using checkpoint::write_file;
  if (auto done = write_file(folder + "/special_tokens_map.json", json_text(special, 2) + "\n");
      !done)
    return done;
  return write_file(folder + '/' + checkpoint::kTokenizerConfig, json_text(config, 2) + "\n");
}

}  // namespace

Result<std::optional<int32_t>> pad_token(const Tokenizer& tokenizer, const std::string& settings) {
  if (!has_settings(settings)) return std::nullopt;
  const auto config = read_json_file(settings + '/' + checkpoint::kTokenizerConfig);
  if (!config) return fail(config);
  if (!config->is_object() || !config->contains("pad_token")) return std::nullopt;
  const nlohmann::json& pad = (*config)["pad_token"];
  const nlohmann::json& text = pad.is_object() && pad.contains("content") ? pad["content"] : pad;
  return text.is_string() ? tokenizer.id_of(text.get_ref<const std::string&>()) : std::nullopt;
}

Result<> export_tokenizer(const std::string& path, const Tokenizer& tokenizer, int64_t longest,
                          const std::string& settings, const std::string& folder) {
  const auto text = read_file(path, kTokenizerBudget.bytes);
  if (!text) return fail(text);
  if (has_settings(settings)) {
    if (auto done = checkpoint::copy_tokenizer(settings, folder); !done) return done;
  } else if (auto done = write_settings(tokenizer, longest, folder); !done) {
    return done;
  }
  return checkpoint::write_file(folder + "/tokenizer.json", *text);
}

}  // namespace heddle::data
