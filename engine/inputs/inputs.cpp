#include "engine/inputs/inputs.h"

#include "engine/checkpoint/load_recipe.h"
#include "engine/checkpoint/weights.h"
#include "engine/data/corpus.h"
#include "engine/data/token_files.h"
#include "engine/inputs/resumable.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::inputs {
Result<Inputs> read_inputs(const std::string& path, int64_t ranks, bool begins_tokens,
                           const std::vector<std::string>& sets) {
  recipe::Parsed parsed = checkpoint::load_recipe_file(path, sets, ranks);
  if (parsed.ok()) parsed.faults = recipe::unsupported(parsed);
  if (!parsed.ok()) return fail("{}", recipe::lines_of(parsed.faults));

  recipe::Recipe& recipe = parsed.recipe;
  auto fault = [&](const Error& error) {
    return fail("{}", recipe::fault_of(parsed, error.message).str());
  };
  std::vector<std::string> warnings;
  const auto vocabulary = data::vocabulary(recipe.model, recipe.data, &warnings);
  if (!vocabulary) return fault(vocabulary.error());
  recipe.model.vocab_size = *vocabulary;
  if (!recipe.model.checkpoint.empty()) {
    const auto opened = checkpoint::Weights::open(recipe.model.checkpoint, recipe.model);
    if (!opened) return fault({"model.checkpoint: " + opened.error().message});
  }
  if (recipe.checkpoint.enabled)
    if (const auto fits = check_resumable(recipe); !fits) return fault(fits.error());
  if (begins_tokens) {
    if (const auto begun = data::tokenize_corpus(recipe, {.shards = 1}); !begun)
      return fault(begun.error());
    if (data::is_token_file(recipe.data.token_ids))
      if (const auto checked = data::check_token_file(recipe.data.token_ids, *vocabulary); !checked)
        return fault(checked.error());
  }
  recipe::Training cut = recipe.training;  // as a pipeline cuts it
  cut.local_batch = recipe.micro_batch_size();
  auto loader = data::DataLoader::open(recipe.data, cut, *vocabulary);
  if (!loader) return fault(loader.error());
  if (!recipe.data.token_ids.empty()) warnings.clear();  // the tokenizer reads no text
  Inputs inputs{std::move(recipe), std::move(*loader), {}, std::move(warnings)};
  if (inputs.recipe.validation.every == 0) return inputs;
  auto held_out = read_held_out(inputs.recipe);
  if (!held_out) return fault(held_out.error());
  inputs.held_out = std::move(*held_out);
  return inputs;
}

}  // namespace heddle::inputs
