// The makers that each turn a member of a section into a field of the schema.
#pragma once

#include <fmt/format.h>

#include "engine/recipe/schema.h"

namespace heddle::recipe {

template <typename S>
Field integer(std::string key, S Recipe::*section, int64_t S::*member, int64_t low,
              int64_t high = kAny) {
  return {{std::move(key),
           "integer",
           "",
           range_words(low, high),
           {},
           static_cast<double>(low),
           static_cast<double>(high)},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_integer(node, low, high, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return fmt::format("{}", recipe.*section.*member); }};
}

template <typename S>
Field number(std::string key, S Recipe::*section, double S::*member, Numbers range) {
  return {{std::move(key), "number", "", range.words, {}, range.low, range.high},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_number(node, range, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return number_text(recipe.*section.*member); }};
}

template <typename S>
Field boolean(std::string key, S Recipe::*section, bool S::*member) {
  return {{std::move(key), "boolean", "", "true | false", {"true", "false"}},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = node.value_exact<bool>()) {
              recipe.*section.*member = *v;
            } else {
              complain_of_type(complain, node, "true | false");
            }
          },
          [=](const Recipe& recipe) { return recipe.*section.*member ? "true" : "false"; }};
}

template <typename S>
Field text(std::string key, S Recipe::*section, std::string S::*member, std::string valid) {
  return {{std::move(key), "string", "", valid},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = node.value_exact<std::string>()) {
              recipe.*section.*member = *v;
            } else {
              complain_of_type(complain, node, "a string", valid);
            }
          },
          [=](const Recipe& recipe) { return quote(recipe.*section.*member); }};
}

template <typename S>
Field strings(std::string key, S Recipe::*section, std::vector<std::string> S::*member,
              std::string valid) {
  return {{std::move(key), "list", "", std::move(valid)},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_strings(node, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return strings_text(recipe.*section.*member); }};
}

template <typename S, typename T>
Field choice(std::string key, S Recipe::*section, T S::*member, Names<T> names) {
  return {{std::move(key), "string", "", choices(words(names)), words(names)},
          [=](const toml::node& node, Recipe& recipe, const Complain& complain) {
            if (auto v = read_choice(node, names, complain)) recipe.*section.*member = *v;
          },
          [=](const Recipe& recipe) { return quote(word_of(names, recipe.*section.*member)); }};
}

}  // namespace heddle::recipe
