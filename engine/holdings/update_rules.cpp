#include "engine/holdings/update_rules.h"

#include <algorithm>

#include "engine/recipe/modules.h"
#include "engine/recipe/parameter_kinds.h"

namespace heddle::holdings {

using recipe::Override;

UpdateRules::UpdateRules(const recipe::Recipe& recipe)
    : usual_{recipe.optimizer.lr, recipe.optimizer.weight_decay},
      is_tied_(recipe.model.tied_embeddings) {
  for (const Override& each : recipe.overrides) {
    if (!each.lr && !each.weight_decay) continue;
    Override& exception = exceptions_.emplace_back(each);
    exception.modules.clear();
    for (const std::string& name : each.modules)
      for (std::string& module : recipe::expand_range(name))
        exception.modules.push_back(std::move(module));
  }
}

UpdateRule UpdateRules::of(std::string_view parameter) const {
  if (is_tied_ && recipe::module_of(parameter) == "output") parameter = "tok_embeddings.weight";
  const auto first = [&](auto Override::*value, double usual) {
    const auto found = std::ranges::find_if(exceptions_, [&](const Override& each) {
      return (each.*value).has_value() &&
             std::ranges::any_of(each.modules, [&](const std::string& name) {
               return recipe::covers(name, parameter);
             });
    });
    return found == exceptions_.end() ? usual : *((*found).*value);
  };
  return {first(&Override::lr, usual_.lr), first(&Override::weight_decay, usual_.weight_decay)};
}

}  // namespace heddle::holdings
