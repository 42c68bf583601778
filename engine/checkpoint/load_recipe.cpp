#include "engine/checkpoint/load_recipe.h"

#include <filesystem>

#include "engine/recipe/resolve.h"

namespace heddle::checkpoint {
namespace {

namespace fs = std::filesystem;

/// Numbers that the recipe leaves open come from the checkpoint; what is written stands.
void take_numbers(recipe::Parsed& parsed, const ModelOf& model_of) {
  recipe::Model& model = parsed.recipe.model;
  const bool whole =
      model.dim != 0 && model.n_layers != 0 && model.n_heads != 0 && model.ffn_dim != 0;
  if (model.checkpoint.empty() || whole) return;
  Result<recipe::Model> numbers = model_of(model.checkpoint);
  if (!numbers)
    return recipe::Checks(parsed).fault({"model.checkpoint"}, numbers.error().message, "");
  const auto take = [&](const char* key, auto recipe::Model::*member) {
    if (!parsed.places.contains(key)) model.*member = (*numbers).*member;
  };
  take("model.dim", &recipe::Model::dim);
  take("model.n_layers", &recipe::Model::n_layers);
  take("model.n_heads", &recipe::Model::n_heads);
  take("model.n_kv_heads", &recipe::Model::n_kv_heads);
  take("model.ffn_dim", &recipe::Model::ffn_dim);
  take("model.vocab_size", &recipe::Model::vocab_size);
  take("model.max_seq_len", &recipe::Model::max_seq_len);
  take("model.norm_eps", &recipe::Model::norm_eps);
  take("model.rope_theta", &recipe::Model::rope_theta);
  take("model.rope_scaling", &recipe::Model::rope_scaling);
  take("model.tied_embeddings", &recipe::Model::tied_embeddings);
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
