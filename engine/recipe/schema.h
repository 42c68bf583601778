// The one table of the recipe's keys: how each is read from TOML, written back and described.
// Parsing, writing, forms and suggestions all follow it; a new key is one line in schema.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/recipe/parse.h"
#include "engine/recipe/recipe.h"
#include "engine/recipe/values.h"

namespace heddle::recipe {

struct Field {
  KeyInfo info;
  /// Stores the node's value in the recipe, or complains and leaves the recipe as it is.
  std::function<void(const toml::node&, Recipe&, const Complain&)> read;
  /// The recipe's value as TOML source.
  std::function<std::string(const Recipe&)> write;

  // Its line in the table for people; see KeyInfo.
  Field says(std::string label, std::string unit, std::string help) &&;
  Field often() &&;
  Field drawn() &&;
  Field zero(std::string stands_for) &&;
  Field names(std::vector<std::string> of_choices) &&;
  Field files(std::string patterns) &&;
  Field steps(Step step) &&;
  Field graph(std::string from_pass = "capture") &&;
};

/// All fields in the design's order. `override` is one field (a list of tables),
/// `model.rope_scaling` too.
const std::vector<Field>& schema();

const Field* find_field(std::string_view key);

/// "model" of "model.dim", "" of "override".
std::string section_of(std::string_view key);

/// "steps" of "training.steps".
std::string leaf_of(std::string_view key);

/// Sections in the design's order: "model", "data" …
const std::vector<std::string>& sections();

/// The tables of [[override]] as [[override]] blocks, for the canonical text.
std::string override_blocks(const Recipe& recipe);

}  // namespace heddle::recipe
