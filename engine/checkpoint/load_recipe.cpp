#include "engine/checkpoint/load_recipe.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <type_traits>

#include "engine/checkpoint/model_keys.h"
#include "engine/recipe/resolve.h"
#include "engine/recipe/schema.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVocabulary = "model.vocab_size";

/// The checkpoint completes a scaling that is written in part.
void complete_scaling(recipe::Parsed& parsed, const recipe::Model& found) {
  using recipe::RopeScaling;
  auto& scaling = parsed.recipe.model.rope_scaling;
  if (!scaling || !found.rope_scaling) return;
  const auto is_written = [&](const char* key) {
    return parsed.places.contains(std::string("model.rope_scaling.") + key);
  };
  const bool is_llama3 = is_written("low_freq_factor") || is_written("high_freq_factor");
  if (!is_written("type") && !is_llama3) scaling->type = found.rope_scaling->type;
  if (scaling->type != found.rope_scaling->type) return;
  const auto take = [&](const char* key, auto RopeScaling::*member) {
    if (!is_written(key)) (*scaling).*member = (*found.rope_scaling).*member;
  };
  take("factor", &RopeScaling::factor);
  take("low_freq_factor", &RopeScaling::low_freq_factor);
  take("high_freq_factor", &RopeScaling::high_freq_factor);
  take("original_max_position", &RopeScaling::original_max_position);
  take("beta_fast", &RopeScaling::beta_fast);
  take("beta_slow", &RopeScaling::beta_slow);
  take("attention_factor", &RopeScaling::attention_factor);
  take("truncate", &RopeScaling::truncate);
}

/// The model's numbers are the checkpoint's: what is written must be the same where shapes depend
/// on it, and is elsewhere. A preset's sizes count as written.
void take_numbers(recipe::Parsed& parsed, const ModelOf& model_of) {
  recipe::Model& model = parsed.recipe.model;
  if (model.checkpoint.empty()) return;
  const bool whole =
      model.dim != 0 && model.n_layers != 0 && model.n_heads != 0 && model.ffn_dim != 0;
  Result<recipe::Model> numbers = model_of(model.checkpoint);
  recipe::Checks checks(parsed);
  if (!numbers) {
    // It may lie where the run will be: `train` opens it there.
    if (!whole) checks.fault({"model.checkpoint"}, numbers.error().message, "");
    return;
  }
  numbers->head_dim = numbers->head_size();  // to be reported and compared
  each_size([&](const char* key, auto member) {
    auto& mine = model.*member;
    const auto theirs = (*numbers).*member;
    const bool is_written = parsed.places.contains(key);
    constexpr bool kIsFlag = std::is_same_v<decltype(theirs), const bool>;
    const bool is_open = !kIsFlag && mine == 0;
    if (is_written && is_open && key == kVocabulary) return;  // the tokenizer's
    if (mine != theirs && !is_open && is_written)
      checks.fault({key}, fmt::format("{}, but {} has {}", mine, model.checkpoint, theirs),
                   fmt::format("{}, or without the key", theirs));
    if (mine != theirs && !is_open && !is_written && !model.preset.empty())
      checks.fault({"model.preset"},
                   fmt::format("{} has {} {}, but {} has {}", model.preset, recipe::leaf_of(key),
                               mine, model.checkpoint, theirs),
                   "no preset beside a checkpoint, or one of its sizes");
    mine = theirs;
  });
  each_reading([&](const char* key, auto member) {
    if (!parsed.places.contains(key)) model.*member = (*numbers).*member;
  });
  complete_scaling(parsed, *numbers);
}

recipe::Parsed completed(recipe::Parsed parsed, int64_t ranks, const ModelOf& model_of) {
  take_numbers(parsed, model_of);
  return recipe::resolve(parsed, ranks);
}

}  // namespace

Result<recipe::Model> model_at(const std::string& folder) {
  std::error_code unknown;
  if (!fs::exists(folder, unknown))
    return fail(
        "there is no {}; valid: a Hugging Face folder or a checkpoint; relative paths start at the "
        "recipe's folder",
        folder);
  return read_model(folder);
}

Result<std::vector<std::string>> overridden(const recipe::Model& model) {
  if (model.checkpoint.empty()) return {};
  const auto found = model_at(model.checkpoint);
  if (!found) return fail(found);
  recipe::Recipe here, there;
  here.model = model;
  there.model = *found;
  std::vector<std::string> lines;
  each_reading([&](const char* key, auto member) {
    if (model.*member == there.model.*member) return;
    const auto& write = recipe::find_field(key)->write;
    lines.push_back(fmt::format("{} is {}, there {}", key, write(here), write(there)));
  });
  return lines;
}

recipe::Parsed load_recipe(std::string_view text, const std::string& file,
                           const std::vector<std::string>& sets, int64_t ranks,
                           const ModelOf& model_of) {
  recipe::Parsed parsed = recipe::parse(text, file, sets);
  std::error_code unknown;
  recipe::resolve_paths(parsed.recipe, fs::absolute(file, unknown).parent_path().string());
  return completed(std::move(parsed), ranks, model_of);
}

recipe::Parsed load_recipe_file(const std::string& path, const std::vector<std::string>& sets,
                                int64_t ranks) {
  return completed(recipe::parse_named_file(path, sets), ranks, model_at);
}

}  // namespace heddle::checkpoint
