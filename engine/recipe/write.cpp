#include <fmt/format.h>

#include <map>

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
  for (const Field& field : schema()) {
    std::string value = field.write(recipe);
    if (applies(field.info, recipe) || value != field.info.fallback)
      pairs.emplace_back(field.info.key, std::move(value));
  }
  return pairs;
}

std::vector<Change> changes(const Recipe& before, const Recipe& now) {
  std::map<std::string, std::string> old_values, new_values;
  for (auto& [key, value] : flatten(before)) old_values[key] = std::move(value);
  for (auto& [key, value] : flatten(now)) new_values[key] = std::move(value);
  std::vector<Change> all;
  for (const KeyInfo& info : keys())
    if (old_values[info.key] != new_values[info.key])
      all.push_back({info.key, old_values[info.key], new_values[info.key]});
  return all;
}

}  // namespace heddle::recipe
