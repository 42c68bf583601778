// Exceptions by whole layers: [[override]] as the page draws and edits them. No widgets.
#pragma once

#include <QList>
#include <QString>
#include <optional>
#include <vector>

#include "engine/recipe/recipe.h"

namespace heddle::gui {

struct LayerException {
  int first = 0;
  int last = 0;
  recipe::RecomputeMode mode = recipe::RecomputeMode::none;
  bool operator==(const LayerException&) const = default;
};

/// Runs of layers with a mode of their own, in order; neighbours with the same mode are one.
QList<LayerException> layerExceptions(const recipe::Recipe& recipe);

/// The recipe's exceptions with `mode` for some layers; nullopt, or what the recipe does anyway: no
/// exception there. Exceptions of other modules stay.
std::vector<recipe::Override> withLayers(const recipe::Recipe& recipe, int first, int last,
                                         std::optional<recipe::RecomputeMode> mode);

/// "none", "full" …
QString wordOf(recipe::RecomputeMode mode);

}  // namespace heddle::gui
