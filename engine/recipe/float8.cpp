#include "engine/recipe/float8.h"

#include <algorithm>

#include "engine/recipe/modules.h"

namespace heddle::recipe {

Float8Layers::Float8Layers(const Precisions& precision, bool tied)
    : float8_(precision.float8), tied_(tied) {
  if (float8_ == Float8::none) return;
  for (const std::string& name : precision.float8_except)
    for (std::string& module : expand_range(name)) except_.push_back(std::move(module));
}

Float8 Float8Layers::of(std::string_view module) const {
  const bool stays = std::ranges::any_of(except_, [&](const std::string& name) {
    return module.starts_with(name) && (module.size() == name.size() || module[name.size()] == '.');
  });
  return stays ? Float8::none : float8_;
}

bool Float8Layers::gathers(std::string_view module, size_t dimensions) const {
  const bool is_embedding = module == "tok_embeddings" || (tied_ && module == "output");
  return dimensions == 2 && !is_embedding && of(module) == Float8::tensorwise;
}

}  // namespace heddle::recipe
