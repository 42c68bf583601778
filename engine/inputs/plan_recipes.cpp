#include "engine/inputs/plan_recipes.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <vector>

#include "engine/checkpoint/load_recipe.h"
#include "engine/data/text_loader.h"
#include "engine/recipe/fault_lines.h"

namespace heddle::inputs {
namespace {

namespace fs = std::filesystem;

/// Stand-ins for data that a recipe does not name yet: planning reads none.
std::vector<std::string> stand_ins(const recipe::Data& data) {
  std::vector<std::string> sets;
  const bool named = !data.text.empty() || !data.mix.empty() || !data.token_ids.empty();
  if (!named) sets.emplace_back("data.text=[\"any\"]");
  if (data.tokenizer.empty() && data.token_ids.empty()) sets.emplace_back("data.tokenizer=\"any\"");
  return sets;
}

int64_t changed(const std::string& file) {
  std::error_code unknown;
  const auto time = fs::last_write_time(file, unknown);
  return unknown ? 0 : time.time_since_epoch().count();
}

}  // namespace

recipe::Parsed PlanRecipes::read(const plan::PlanQuestion& question) {
  const recipe::Data data = recipe::parse(question.text, question.file, question.sets).recipe.data;
  std::vector<std::string> sets = question.sets;
  std::ranges::move(stand_ins(data), std::back_inserter(sets));
  recipe::Parsed parsed =
      checkpoint::load_recipe(question.text, question.file, sets, question.ranks);
  if (parsed.ok() && question.executor == plan::PlanQuestion().executor)
    parsed.faults = recipe::unsupported(parsed);
  if (!parsed.ok()) return parsed;
  recipe::Recipe& recipe = parsed.recipe;
  // Held-out text is read from files that need not be there.
  recipe.validation.every = 0;
  recipe::Recipe named = recipe;
  if (data.tokenizer.empty()) named.data.tokenizer.clear();
  if (const auto words = vocabulary(named))
    recipe.model.vocab_size = *words;
  else if (data.tokenizer.empty())
    parsed.faults.push_back(recipe::fault_at(
        parsed, "model.vocab_size", "0 takes the tokenizer's, and data.tokenizer names none",
        "1 or more, or a tokenizer.json in data.tokenizer"));
  else
    parsed.faults.push_back(recipe::fault_of(parsed, words.error().message));
  return parsed;
}

/// The model's rows, or the tokenizer's; where both are there they must fit each other.
Result<int64_t> PlanRecipes::vocabulary(const recipe::Recipe& recipe) {
  const std::string& tokenizer = recipe.data.tokenizer;
  std::error_code unknown;
  const int64_t rows = recipe.model.vocab_size;
  if (rows > 0 && !fs::exists(tokenizer, unknown)) return rows;
  const std::tuple key{tokenizer, changed(tokenizer), rows};
  if (const auto known = vocabulary_.find(key); known != vocabulary_.end()) return known->second;
  auto words = data::vocabulary(recipe.model, recipe.data);
  if (words) vocabulary_[key] = *words;
  return words;
}

}  // namespace heddle::inputs
