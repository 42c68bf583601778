#include "engine/recipe/update_rules.h"

#include <algorithm>

#include "engine/recipe/modules.h"

namespace heddle::recipe {
namespace {

constexpr std::string_view kEmbedding = "tok_embeddings";

bool names(std::string_view name, std::string_view parameter) {
  const std::string_view module = module_of(parameter);
  if (name == "norms") return module.ends_with("norm");
  if (name == "embeddings") return module == kEmbedding;
  if (name == "biases") return parameter.ends_with(".bias");
  return parameter.starts_with(name) &&
         (parameter.size() == name.size() || parameter[name.size()] == '.');
}

}  // namespace

const std::vector<std::string>& parameter_kinds() {
  static const std::vector<std::string> kinds = {"norms", "embeddings", "biases"};
  return kinds;
}

UpdateRules::UpdateRules(const Recipe& recipe)
    : usual_{recipe.optimizer.lr, recipe.optimizer.weight_decay},
      is_tied_(recipe.model.tied_embeddings) {
  for (const Override& each : recipe.overrides) {
    if (!each.lr && !each.weight_decay) continue;
    Override& exception = exceptions_.emplace_back(each);
    exception.modules.clear();
    for (const std::string& name : each.modules)
      for (std::string& module : expand_range(name)) exception.modules.push_back(std::move(module));
  }
}

UpdateRule UpdateRules::of(std::string_view parameter) const {
  const std::string of_embedding = std::string(kEmbedding) + ".weight";
  if (is_tied_ && module_of(parameter) == "output") parameter = of_embedding;
  const auto first = [&](auto Override::*value, double usual) {
    const auto found = std::ranges::find_if(exceptions_, [&](const Override& each) {
      return (each.*value).has_value() &&
             std::ranges::any_of(each.modules,
                                 [&](const std::string& name) { return names(name, parameter); });
    });
    return found == exceptions_.end() ? usual : *((*found).*value);
  };
  return {first(&Override::lr, usual_.lr), first(&Override::weight_decay, usual_.weight_decay)};
}

}  // namespace heddle::recipe
