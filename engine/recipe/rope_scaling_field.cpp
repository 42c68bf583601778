// model.rope_scaling: false, or a table whose keys depend on its type.
#include <fmt/format.h>

#include <algorithm>

#include "engine/recipe/members.h"
#include "engine/recipe/special_fields.h"

namespace heddle::recipe {
namespace {

/// A number of [model.rope_scaling], and the types that it is of.
struct ScalingNumber {
  std::string key;
  double RopeScaling::*member;
  Numbers range;
  std::vector<RopeType> types;
};

const std::vector<ScalingNumber>& scaling_numbers() {
  using enum RopeType;
  static const std::vector<ScalingNumber> all = {
      {"factor", &RopeScaling::factor, kPositive, {llama3, linear, yarn}},
      {"low_freq_factor", &RopeScaling::low_freq_factor, kPositive, {llama3}},
      {"high_freq_factor", &RopeScaling::high_freq_factor, kPositive, {llama3}},
      {"beta_fast", &RopeScaling::beta_fast, kPositive, {yarn}},
      {"beta_slow", &RopeScaling::beta_slow, kPositive, {yarn}},
      {"attention_factor", &RopeScaling::attention_factor, kNotNegative, {yarn}}};
  return all;
}

bool has(const std::vector<RopeType>& types, RopeType type) {
  return std::ranges::find(types, type) != types.end();
}

void read_scaling(const toml::table& table, const std::string& valid, RopeScaling& scaling,
                  const Complain& complain) {
  if (const toml::node* type = table.get("type"))
    if (const auto v = read_choice(*type, rope_types(), complain)) scaling.type = *v;
  const std::string type = word_of(rope_types(), scaling.type);
  for (const ScalingNumber& each : scaling_numbers())  // a preset's, of another type
    if (!has(each.types, scaling.type)) scaling.*each.member = RopeScaling().*each.member;
  for (const auto& [key, value] : table) {
    const auto of = [&, &value = value, name = key.str()](const std::vector<RopeType>& types) {
      if (has(types, scaling.type)) return true;
      complain(value, fmt::format("{} is no key of type {}", name, type), valid, "");
      return false;
    };
    const auto number = std::ranges::find(scaling_numbers(), key.str(), &ScalingNumber::key);
    if (number != scaling_numbers().end()) {
      if (!of(number->types)) continue;
      if (auto v = read_number(value, number->range, complain)) scaling.*number->member = *v;
    } else if (key == "original_max_position") {
      if (!of({RopeType::llama3, RopeType::yarn})) continue;
      if (auto v = read_integer(value, 1, kMaxTokens, complain)) scaling.original_max_position = *v;
    } else if (key == "truncate") {
      if (!of({RopeType::yarn})) continue;
      if (const auto v = value.value_exact<bool>())
        scaling.truncate = *v;
      else
        complain_of_type(complain, value, "true | false");
    } else if (key != "type") {
      complain(value, fmt::format("unknown key {}", key.str()), valid,
               nearest(key.str(), member_names("model.rope_scaling")));
    }
  }
}

std::string scaling_text(const RopeScaling& scaling) {
  std::vector<std::string> parts;
  if (scaling.type != RopeType::llama3)
    parts.push_back("type = " + quote(word_of(rope_types(), scaling.type)));
  for (const ScalingNumber& each : scaling_numbers())
    if (has(each.types, scaling.type))
      parts.push_back(fmt::format("{} = {}", each.key, number_text(scaling.*each.member)));
  if (scaling.type != RopeType::linear)
    parts.push_back(fmt::format("original_max_position = {}", scaling.original_max_position));
  if (scaling.type == RopeType::yarn)
    parts.push_back(fmt::format("truncate = {}", scaling.truncate));
  return fmt::format("{{ {} }}", joined(parts, ", "));
}

}  // namespace

const Names<RopeType>& rope_types() {
  static const Names<RopeType> names = {
      {"llama3", RopeType::llama3}, {"linear", RopeType::linear}, {"yarn", RopeType::yarn}};
  return names;
}

Field rope_scaling_field() {
  const std::string valid =
      "{ factor, low_freq_factor, high_freq_factor, original_max_position } | { type = \"linear\", "
      "factor } | { type = \"yarn\", factor, original_max_position, beta_fast, beta_slow, "
      "attention_factor, truncate } | false";
  const auto read = [valid](const toml::node& node, Recipe& recipe, const Complain& complain) {
    auto& scaling = recipe.model.rope_scaling;
    if (node.value_exact<bool>() == false) {
      scaling.reset();
      return;
    }
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      complain_of_type(complain, node, valid);
      return;
    }
    if (!scaling) scaling.emplace();
    read_scaling(*table, valid, *scaling, complain);
  };
  return {
      {"model.rope_scaling", "table", "", valid}, read, [](const Recipe& recipe) -> std::string {
        return recipe.model.rope_scaling ? scaling_text(*recipe.model.rope_scaling) : "false";
      }};
}

}  // namespace heddle::recipe
