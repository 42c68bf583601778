#include "engine/recipe/parameter_kinds.h"

#include "engine/recipe/modules.h"

namespace heddle::recipe {

const std::vector<std::string>& parameter_kinds() {
  static const std::vector<std::string> kinds = {"norms", "embeddings", "biases"};
  return kinds;
}

bool covers(std::string_view name, std::string_view parameter) {
  const std::string_view module = module_of(parameter);
  if (name == "norms") return module.ends_with("norm");
  if (name == "embeddings") return module == "tok_embeddings";
  if (name == "biases") return parameter.ends_with(".bias");
  return parameter.starts_with(name) &&
         (parameter.size() == name.size() || parameter[name.size()] == '.');
}

}  // namespace heddle::recipe
