// By what the optimizer updates each parameter: [optimizer], and the exceptions of [[override]].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::recipe {

/// What [[override]] may name beside modules: "norms", "embeddings" and "biases" of the whole
/// model.
const std::vector<std::string>& parameter_kinds();

struct UpdateRule {
  double lr = 0;  // the highest of the schedule
  double weight_decay = 0;
  bool operator==(const UpdateRule&) const = default;
};

class UpdateRules {
 public:
  UpdateRules() = default;
  explicit UpdateRules(const Recipe& recipe);

  /// Of a parameter by its name. The first exception that names it, what it is in, or its kind
  /// counts; of tied embeddings, at either end of a pipeline, that of the embedding.
  UpdateRule of(std::string_view parameter) const;
  /// By [optimizer] alone.
  const UpdateRule& usual() const { return usual_; }

 private:
  UpdateRule usual_;
  std::vector<Override> exceptions_;  // ranges of layers expanded
  bool is_tied_ = false;
};

}  // namespace heddle::recipe
