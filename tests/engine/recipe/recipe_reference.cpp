// Prints docs/recipe.md: recipe_reference > docs/recipe.md
#include <fmt/format.h>

#include "reference.h"

int main() { fmt::print("{}", heddle::recipe::reference()); }
