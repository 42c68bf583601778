// A recipe with its predicted plan, as it goes from page to page.
#pragma once

#include <QString>
#include <memory>

#include "engine/recipe/recipe.h"
#include "gui/models/prediction.h"

namespace heddle::gui {

struct PlannedRecipe {
  QString name;                                  // "debug, edited"
  recipe::Recipe recipe;                         // resolved
  std::shared_ptr<const Prediction> prediction;  // null: nothing has been planned
};

}  // namespace heddle::gui
