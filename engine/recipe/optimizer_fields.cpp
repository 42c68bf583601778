#include "engine/recipe/optimizer_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/optim/optimizer.h"
#include "engine/recipe/fields.h"

namespace heddle::recipe {
namespace {

using Kind = optim::Key::Kind;

const Numbers& range_of(const optim::Key& key) {
  return key.range == optim::Key::Range::positive ? kPositive : kMomentum;
}

KeyInfo info_of(const optim::Key& key) {
  const std::string name = "optimizer." + key.name;
  const Numbers& range = range_of(key);
  switch (key.kind) {
    case Kind::flag:
      return {name, "boolean", "", "true | false", {"true", "false"}};
    case Kind::pair:
      return {name, "list", "", "two numbers, " + range.words};
    case Kind::number:
      break;
  }
  return {name, "number", "", range.words, {}, range.low, range.high};
}

std::optional<std::vector<double>> read_pair(const toml::node& node, const Numbers& range,
                                             const Complain& complain) {
  const toml::array* array = node.as_array();
  if (array == nullptr || array->size() != 2) {
    complain_of_type(complain, node, "a list of two numbers", range.words);
    return std::nullopt;
  }
  const auto first = read_number(*array->get(0), range, complain);
  const auto second = read_number(*array->get(1), range, complain);
  if (!first || !second) return std::nullopt;
  return std::vector{*first, *second};
}

std::optional<std::vector<double>> read_values(const optim::Key& key, const toml::node& node,
                                               const Complain& complain) {
  if (key.kind == Kind::pair) return read_pair(node, range_of(key), complain);
  if (key.kind == Kind::number) {
    const auto value = read_number(node, range_of(key), complain);
    return value ? std::optional(std::vector{*value}) : std::nullopt;
  }
  if (const auto flag = node.value_exact<bool>()) return std::vector{*flag ? 1.0 : 0.0};
  complain_of_type(complain, node, "true | false");
  return std::nullopt;
}

std::string text_of(const optim::Key& key, const std::vector<double>& values) {
  switch (key.kind) {
    case Kind::flag:
      return values[0] != 0 ? "true" : "false";
    case Kind::pair:
      return fmt::format("[{}, {}]", number_text(values[0]), number_text(values[1]));
    case Kind::number:
      break;
  }
  return number_text(values[0]);
}

Field field_of(const optim::Key& key) {
  Field field = {
      info_of(key),
      [key](const toml::node& node, Recipe& recipe, const Complain& complain) {
        const auto values = read_values(key, node, complain);
        if (!values) return;
        recipe.optimizer.settings.erase(key.name);
        if (*values != key.fallback) recipe.optimizer.settings[key.name] = *values;
      },
      [key](const Recipe& recipe) { return text_of(key, key.values(recipe.optimizer.settings)); }};
  for (const optim::Optimizer& each : optim::optimizers())
    if (each.has(key.name)) field.info.optimizers.push_back(each.name);
  return std::move(field).says(key.label, "", key.help).graph();
}

Field name_field() {
  std::vector<std::string> names, words;
  for (const optim::Optimizer& each : optim::optimizers()) {
    names.push_back(each.name);
    words.push_back(each.words);
  }
  return choice("optimizer.name", &Recipe::optimizer, &Optimizer::name, named(names))
      .says("optimizer", "", "How gradients change the weights.")
      .names(words)
      .graph();
}

}  // namespace

std::vector<Field> optimizer_fields() {
  using R = Recipe;
  std::vector<Field> fields = {name_field(),
                               number("optimizer.lr", &R::optimizer, &Optimizer::lr, kPositive)
                                   .says("lr", "", "The highest learning rate of the schedule.")
                                   .often()};
  std::vector<std::string> known;
  for (const optim::Optimizer& each : optim::optimizers())
    for (const optim::Key& key : each.keys) {
      if (std::ranges::find(known, key.name) != known.end()) continue;
      known.push_back(key.name);
      fields.push_back(field_of(key));
    }
  fields.push_back(
      number("optimizer.weight_decay", &R::optimizer, &Optimizer::weight_decay, kNotNegative)
          .says("weight decay", "", "Decay of every parameter, times the learning rate.")
          .often()
          .graph());
  return fields;
}

}  // namespace heddle::recipe
