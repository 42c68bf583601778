#include "reference.h"

#include <fmt/ranges.h>

#include "engine/recipe/members.h"

namespace heddle::recipe {
namespace {

/// A bar within a cell would end it.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? "\\|" : std::string(1, c);
  return escaped;
}

std::string meaning(const KeyInfo& info) {
  std::string text = info.help;
  if (!info.unit.empty()) text += fmt::format(" Unit: {}.", info.unit);
  if (!info.optimizers.empty())
    text += fmt::format(" Optimizer: {}.", fmt::join(info.optimizers, ", "));
  return text;
}

std::string row(const KeyInfo& info) {
  const std::string fallback = info.fallback.empty() ? "" : '`' + info.fallback + '`';
  return fmt::format("| `{}` | {} | {} | {} |\n", info.key, fallback, cell(info.valid),
                     cell(meaning(info)));
}

}  // namespace

std::string reference() {
  std::string text =
      "# The recipe: all keys\n\n"
      "Written from the engine's table of keys (`engine/recipe/schema.cpp`) by `recipe_reference`, "
      "a\n"
      "program that is built with the tests; a test holds this file to it. Every key has a "
      "default;\n"
      "paths are relative to the recipe's file; `--set key=value` sets any of them.\n";
  for (const std::string& group : groups()) {
    text += fmt::format("\n## {}\n\n| key | default | valid | what it is |\n|---|---|---|---|\n",
                        group);
    for (const KeyInfo* each : keys_of(group)) {
      text += row(*each);
      for (const KeyInfo& member : members_of(each->key)) text += row(member);
    }
  }
  return text;
}

}  // namespace heddle::recipe
