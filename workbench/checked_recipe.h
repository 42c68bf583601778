// A launch's recipe, checked before anything is kept or shipped.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/recipe/parse.h"
#include "storage/run.h"
#include "workbench/launch.h"

namespace heddle::workbench {

/// A recipe that this version can train, in the two forms that a launch needs.
struct CheckedRecipe {
  recipe::Parsed parsed;  // resolved
  std::string text;       // the user's, with --set applied and paths absolute
};

/// Fails on a run's name that cannot be, too. Looks at no input file.
tl::expected<CheckedRecipe, LaunchError> check_recipe(const LaunchRequest& request);

/// A new run never continues another unless that was asked for.
std::optional<LaunchError> unasked_continuation(const std::string& store_path,
                                                const LaunchRequest& request,
                                                const recipe::Parsed& resolved);

/// The run's row, without its place.
storage::NewRun new_run(const LaunchRequest& request, const CheckedRecipe& checked);

/// Keys whose values are paths of this machine.
const std::vector<std::string>& path_keys();

/// The text with keys set to the recipe's values; keys that the recipe leaves empty are not
/// written.
Result<std::string> with_values(std::string text, const recipe::Recipe& recipe,
                                const std::vector<std::string>& keys);

}  // namespace heddle::workbench
