// The names by which [[override]] chooses parameters: modules, parameters, and kinds of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::recipe {

/// "norms", "embeddings" and "biases" of the whole model.
const std::vector<std::string>& parameter_kinds();

/// Whether a name, its range of layers expanded, covers a parameter: it is the parameter, a module
/// around it, or its kind.
bool covers(std::string_view name, std::string_view parameter);

}  // namespace heddle::recipe
