#include "engine/data/export_tokenizer.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/read_file.h"
#include "engine/checkpoint/file_calls.h"
#include "engine/data/tokenizer_file.h"

namespace heddle::data {

Result<> export_tokenizer(const std::string& path, const Tokenizer& tokenizer, int64_t longest,
                          const std::string& folder) {
  const auto text = read_file(path, kTokenizerBudget.bytes);
  if (!text) return fail(text);
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
  if (auto done = write_file(folder + "/tokenizer.json", *text); !done) return done;
  if (auto done = write_file(folder + "/special_tokens_map.json", json_text(special, 2) + "\n");
      !done)
    return done;
  return write_file(folder + "/tokenizer_config.json", json_text(config, 2) + "\n");
}

}  // namespace heddle::data
