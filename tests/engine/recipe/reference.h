// docs/recipe.md, written from the schema.
#pragma once

#include <string>

namespace heddle::recipe {

std::string reference();

}  // namespace heddle::recipe
