// The keys inside keys whose values are tables: [[override]], data.mix and model.rope_scaling.
#pragma once

#include <string_view>
#include <vector>

#include "engine/recipe/parse.h"

namespace heddle::recipe {

/// A table's keys in words, dotted as in "override.lr"; an empty `fallback`: it has none. Empty for
/// a key whose value is no table.
const std::vector<KeyInfo>& members_of(std::string_view key);

/// Their last parts, as in "lr".
std::vector<std::string> member_names(std::string_view key);

/// A key, or a member of one; null: there is no such key.
const KeyInfo* find_key_or_member(std::string_view key);

}  // namespace heddle::recipe
