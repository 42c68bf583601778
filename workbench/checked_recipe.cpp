#include "workbench/checked_recipe.h"

#include <filesystem>
#include <map>
#include <utility>

#include "engine/checkpoint/load_recipe.h"
#include "engine/data/text_loader.h"
#include "engine/recipe/fault_lines.h"
#include "storage/queries.h"
#include "storage/run_name.h"
#include "workbench/backend.h"
#include "workbench/checkpoints.h"

namespace heddle::workbench {
namespace {

namespace fs = std::filesystem;

LaunchError faults_error(std::vector<recipe::Fault> faults) {
  LaunchError error;
  error.message = recipe::lines_of(faults);
  error.faults = std::move(faults);
  return error;
}

std::string stem_of(const LaunchRequest& request) { return fs::path(request.recipe_file).stem(); }

std::string name_of(const LaunchRequest& request) {
  return request.name.empty() ? stem_of(request) : request.name;
}

/// The recipe with the size that `vocab_size = 0` means: runs of one model are compared by it.
recipe::Recipe with_vocabulary(recipe::Recipe recipe) {
  if (recipe.model.vocab_size != 0) return recipe;
  if (const auto size = data::vocabulary(recipe.model, recipe.data))
    recipe.model.vocab_size = *size;
  return recipe;
}

/// Whether the run's checkpoints go to a folder of this machine that the recipe names.
bool names_local_folder(const recipe::Recipe& recipe, const remote::Target& target) {
  return recipe.checkpoint.enabled && !recipe.checkpoint.folder.empty() &&
         backend_of(target).has_our_files();
}

}  // namespace

const std::vector<std::string>& path_keys() {
  static const std::vector<std::string> kKeys = {
      "model.checkpoint", "data.text",  "data.mix",        "data.token_ids",
      "data.tokenizer",   "data.cache", "validation.text", "checkpoint.folder"};
  return kKeys;
}

Result<std::string> with_values(std::string text, const recipe::Recipe& recipe,
                                const std::vector<std::string>& keys) {
  std::map<std::string, std::string> values;
  for (auto& [key, value] : recipe::flatten(recipe)) values[key] = value;
  for (const std::string& key : keys) {
    const std::string& value = values[key];
    const bool empty = value.empty() || value == "\"\"" || value == "[]";
    Result<std::string> edited = recipe::with_key(text, key, empty ? "" : value);
    if (!edited) return fail("{}: {}", key, edited.error().message);
    text = std::move(*edited);
  }
  return text;
}

tl::expected<CheckedRecipe, LaunchError> check_recipe(const LaunchRequest& request) {
  // A recipe that is only looked at may have no name yet.
  if (const std::string name = name_of(request); !name.empty())
    if (const Result<> valid = storage::check_name(name); !valid)
      return tl::unexpected(LaunchError{.message = valid.error().message, .refused = true});
  recipe::Parsed resolved =
      checkpoint::load_recipe(request.recipe_text, request.recipe_file, request.sets);
  std::vector<recipe::Fault> faults = resolved.faults;
  if (faults.empty()) faults = recipe::unsupported(resolved);
  if (!faults.empty()) return tl::unexpected(faults_error(std::move(faults)));

  // Keeps the settings as typed: another number of ranks gives -1 another meaning.
  std::vector<std::string> keys;
  for (const std::string& set : request.sets) keys.push_back(set.substr(0, set.find('=')));
  const recipe::Recipe said =
      recipe::parse(request.recipe_text, request.recipe_file, request.sets).recipe;
  const Result<std::string> text =
      with_values(request.recipe_text, said, keys).and_then([&](std::string edited) {
        return with_values(std::move(edited), resolved.recipe, path_keys());
      });
  if (!text) return tl::unexpected(LaunchError{.message = text.error().message});
  return CheckedRecipe{std::move(resolved), *text};
}

storage::NewRun new_run(const LaunchRequest& request, const CheckedRecipe& checked) {
  storage::NewRun run;
  run.name = name_of(request);
  run.target = request.target.name;
  run.recipe_name = stem_of(request);
  run.recipe = checked.text;
  run.recipe_values = recipe::flatten(with_vocabulary(checked.parsed.recipe));
  run.group = request.group;
  if (request.begin) run.lineage = request.begin->lineage;
  run.claims_folder = names_local_folder(checked.parsed.recipe, request.target);
  return run;
}

std::optional<LaunchError> unasked_continuation(const std::string& store_path,
                                                const LaunchRequest& request,
                                                const recipe::Parsed& resolved) {
  const bool asked = request.begin && request.begin->shares_folder;
  if (asked) return {};
  const auto fault = folder_fault(store_path, resolved, request.target);
  if (!fault) return LaunchError{.message = fault.error().message};
  return *fault ? std::optional(faults_error({**fault})) : std::nullopt;
}

Result<std::optional<recipe::Fault>> folder_fault(const std::string& store_path,
                                                  const recipe::Parsed& resolved,
                                                  const remote::Target& target) {
  if (!names_local_folder(resolved.recipe, target)) return std::nullopt;
  Result<storage::Reader> reader = storage::Reader::open(store_path);
  if (!reader) return fail(reader);
  return folder_in_use(*reader, resolved);
}

}  // namespace heddle::workbench
