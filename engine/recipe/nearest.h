// "did you mean": the candidate closest to a mistyped word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::recipe {

/// Edits (insert, delete, replace, swap neighbours) that turn one word into the other.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate within a third of the word's length (at least 1 edit), the first of equals; empty
/// if none is that close.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace heddle::recipe
