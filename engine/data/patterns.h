// Patterns of paths: *, ?, […].
#pragma once

#include <string>
#include <vector>

namespace heddle::data {

/// The files that a path names: itself, unless it is a pattern and no file's own path; then all
/// that it matches, in the order of the paths, or nothing.
std::vector<std::string> matches_of(const std::string& path);

}  // namespace heddle::data
