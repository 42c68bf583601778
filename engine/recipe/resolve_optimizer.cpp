#include <fmt/format.h>

#include "engine/recipe/resolve.h"
#include "engine/recipe/schema.h"

namespace heddle::recipe {

void check_optimizer(const Parsed& parsed, Checks& checks) {
  std::vector<std::string> valid;
  for (const KeyInfo& info : keys())
    if (section_of(info.key) == "optimizer" && applies(info, parsed.recipe))
      valid.push_back(leaf_of(info.key));
  for (const KeyInfo& info : keys())
    if (parsed.places.contains(info.key) && !applies(info, parsed.recipe))
      checks.fault({info.key},
                   fmt::format("{} has no {}", parsed.recipe.optimizer.name, leaf_of(info.key)),
                   joined(valid, ", "), "");
}

}  // namespace heddle::recipe
