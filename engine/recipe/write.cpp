#include <fmt/format.h>

#include "engine/recipe/parse.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/schema.h"

namespace heddle::recipe {

std::string to_toml(const Recipe& recipe) {
  Recipe usual;
  if (const auto numbers = preset(recipe.model.preset)) usual.model = *numbers;
  usual.model.preset.clear();
  // Beside a checkpoint a number that is left out is the checkpoint's.
  const bool is_whole = !recipe.model.checkpoint.empty() && recipe.model.dim > 0;
  std::string text;
  std::string section;
  for (const Field& field : schema()) {
    const std::string value = field.write(recipe);
    const std::string here = section_of(field.info.key);
    if (value == field.write(usual) && !(is_whole && here == "model")) continue;
    if (here.empty()) {  // [[override]]
      text += fmt::format("{}{}", text.empty() ? "" : "\n", override_blocks(recipe));
      section = field.info.key;
      continue;
    }
    if (here != section) text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", here);
    section = here;
    text += fmt::format("{} = {}\n", leaf_of(field.info.key), value);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> flatten(const Recipe& recipe) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Field& field : schema()) pairs.emplace_back(field.info.key, field.write(recipe));
  return pairs;
}

}  // namespace heddle::recipe
