#include "engine/recipe/special_fields.h"

#include <fmt/format.h>

#include "engine/recipe/members.h"
#include "engine/recipe/presets.h"
#include "engine/recipe/units.h"

namespace heddle::recipe {
namespace {

std::string override_body(const Override& exception, std::string_view separator) {
  std::string body = "modules = " + strings_text(exception.modules);
  if (exception.recompute) {
    body += fmt::format("{}recompute = {}", separator,
                        quote(word_of(recompute_modes(), *exception.recompute)));
  }
  if (exception.lr) body += fmt::format("{}lr = {}", separator, number_text(*exception.lr));
  if (exception.weight_decay)
    body += fmt::format("{}weight_decay = {}", separator, number_text(*exception.weight_decay));
  return body;
}

std::optional<Override> read_override(const toml::node& node, const Complain& complain) {
  const toml::table* table = node.as_table();
  if (table == nullptr) {
    complain_of_type(complain, node, "a table, as in [[override]]");
    return std::nullopt;
  }
  Override exception;
  for (const auto& [key, value] : *table) {
    if (key == "modules") {
      if (auto v = read_strings(value, complain)) exception.modules = *v;
    } else if (key == "recompute") {
      exception.recompute = read_choice(value, recompute_modes(), complain);
    } else if (key == "lr") {
      exception.lr = read_number(value, kNotNegative, complain);
    } else if (key == "weight_decay") {
      exception.weight_decay = read_number(value, kNotNegative, complain);
    } else {
      complain(value, fmt::format("unknown key {}", key.str()),
               joined(member_names("override"), ", "),
               nearest(key.str(), member_names("override")));
    }
  }
  if (!table->contains("modules")) {
    complain(node, "no modules are named", "modules = [\"layers.0-15\"]", "");
  }
  return exception;
}

}  // namespace

const Names<RecomputeMode>& recompute_modes() {
  static const Names<RecomputeMode> names = {{"none", RecomputeMode::none},
                                             {"full", RecomputeMode::full},
                                             {"selective", RecomputeMode::selective},
                                             {"budget", RecomputeMode::budget}};
  return names;
}

Field preset_field() {
  const std::vector<std::string>& names = preset_names();
  return {{"model.preset", "string", "", choices(names), names},
          [names](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (node.value_exact<std::string>() == "") {
              recipe.model.preset.clear();
            } else if (auto v = read_choice(node, named(names), complain)) {
              recipe.model.preset = *v;
            }
          },
          [](const Recipe& recipe) { return quote(recipe.model.preset); }};
}

Field rest_field(const Axis& axis) {
  const std::string valid = "-1 (what is left of the ranks) or 1 or more";
  return {{axis.key(), "integer", "", valid, {}, -1, kMaxRanks},
          [valid, degree = axis.degree](const toml::node& node, Recipe& recipe,
                                        const Complain& complain) {
            const auto value = node.value_exact<int64_t>();
            if (!value) {
              complain_of_type(complain, node, "an integer", valid);
            } else if (*value != -1 && (*value < 1 || *value > kMaxRanks)) {
              complain(node, fmt::format("{} is out of range", *value), valid, "");
            } else {
              recipe.parallelism.*degree = *value;
            }
          },
          [degree = axis.degree](const Recipe& recipe) {
            return fmt::format("{}", recipe.parallelism.*degree);
          }};
}

Field stage_layers_field() {
  return {{"parallelism.stage_layers", "list", "", "layers of each stage, their sum n_layers"},
          [](const toml::node& node, Recipe& recipe, const Complain& complain) {
            const toml::array* array = node.as_array();
            if (array == nullptr) {
              complain_of_type(complain, node, "a list of integers");
              return;
            }
            std::vector<int64_t> layers;
            for (const toml::node& element : *array) {
              const auto value = read_integer(element, 1, kMaxLayers, complain);
              if (!value) return;
              layers.push_back(*value);
            }
            recipe.parallelism.stage_layers = std::move(layers);
          },
          [](const Recipe& recipe) {
            std::vector<std::string> all;
            for (const int64_t n : recipe.parallelism.stage_layers)
              all.push_back(std::to_string(n));
            return fmt::format("[{}]", joined(all, ", "));
          }};
}

Field buckets_field() {
  return {{"wrapping.buckets", "list", "", "lists of module names"},
          [](const toml::node& node, Recipe& recipe, const Complain& complain) {
            const toml::array* array = node.as_array();
            if (array == nullptr) {
              complain_of_type(complain, node, "a list of lists of module names");
              return;
            }
            std::vector<std::vector<std::string>> buckets;
            for (const toml::node& element : *array) {
              auto bucket = read_strings(element, complain);
              if (!bucket) return;
              if (bucket->empty()) {
                complain(element, "is an empty bucket", "one module name or more", "");
                return;
              }
              buckets.push_back(std::move(*bucket));
            }
            recipe.wrapping.buckets = std::move(buckets);
          },
          [](const Recipe& recipe) {
            std::vector<std::string> all;
            for (const auto& bucket : recipe.wrapping.buckets) all.push_back(strings_text(bucket));
            return fmt::format("[{}]", joined(all, ", "));
          }};
}

Field reshard_field() {
  const std::string valid = "true | false | a smaller group's size";
  return {{"wrapping.reshard_after_forward", "boolean", "", valid},
          [valid](const toml::node& node, Recipe& recipe, const Complain& complain) {
            int64_t& reshard = recipe.wrapping.reshard_after_forward;
            if (const auto flag = node.value_exact<bool>()) {
              reshard = *flag ? -1 : 0;
            } else if (const auto size = node.value_exact<int64_t>()) {
              if (*size < 1 || *size > kMaxRanks) {
                complain(node, fmt::format("{} is out of range", *size), valid, "");
              } else {
                reshard = *size;
              }
            } else {
              complain_of_type(complain, node, valid);
            }
          },
          [](const Recipe& recipe) -> std::string {
            const int64_t reshard = recipe.wrapping.reshard_after_forward;
            return reshard < 0 ? "true" : reshard == 0 ? "false" : fmt::format("{}", reshard);
          }};
}

Field memory_limit_field() {
  const std::string valid = "a size as in \"60 GiB\", \"\" for none";
  return {{"wrapping.memory_limit", "string", "", valid},
          [valid](const toml::node& node, Recipe& recipe, const Complain& complain) {
            const auto size = node.value_exact<std::string>();
            if (!size) {
              complain_of_type(complain, node, "a string", valid);
            } else if (const auto bytes = size->empty() ? 0 : parse_bytes(*size)) {
              recipe.wrapping.memory_limit = *bytes;
            } else {
              complain(node, fmt::format("{} is no size", quote(*size)), valid, "");
            }
          },
          [](const Recipe& recipe) {
            const int64_t limit = recipe.wrapping.memory_limit;
            return quote(limit == 0 ? "" : format_bytes(limit));
          }};
}

Field override_field() {
  return {{"override", "list", "", "tables of modules, recompute, lr and weight_decay"},
          [](const toml::node& node, Recipe& recipe, const Complain& complain) {
            const toml::array* array = node.as_array();
            if (array == nullptr) {
              complain_of_type(complain, node, "a list of tables, as in [[override]]");
              return;
            }
            std::vector<Override> overrides;
            for (const toml::node& element : *array) {
              if (auto exception = read_override(element, complain)) {
                overrides.push_back(std::move(*exception));
              }
            }
            recipe.overrides = std::move(overrides);
          },
          [](const Recipe& recipe) {
            std::vector<std::string> all;
            for (const Override& exception : recipe.overrides) {
              all.push_back(fmt::format("{{ {} }}", override_body(exception, ", ")));
            }
            return fmt::format("[{}]", joined(all, ", "));
          }};
}

std::string override_blocks(const Recipe& recipe) {
  std::string text;
  for (const Override& exception : recipe.overrides) {
    text += "[[override]]\n" + override_body(exception, "\n") + "\n";
  }
  return text;
}

}  // namespace heddle::recipe
