// The optimizer's settings of each parameter: [optimizer], and the exceptions of [[override]].
#pragma once

#include <string_view>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::holdings {

struct UpdateRule {
  double lr = 0;  // the highest of the schedule
  double weight_decay = 0;
  bool operator==(const UpdateRule&) const = default;
};

class UpdateRules {
 public:
  explicit UpdateRules(const recipe::Recipe& recipe);

  /// A parameter's rule, by its name. The first exception that covers it counts; tied embeddings
  /// have the embedding's, at either end of a pipeline.
  UpdateRule of(std::string_view parameter) const;

 private:
  UpdateRule usual_;
  std::vector<recipe::Override> exceptions_;  // ranges of layers expanded
  bool is_tied_ = false;
};

}  // namespace heddle::holdings
