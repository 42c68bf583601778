// Recipes that differ from this one by one step. No widgets.
#pragma once

#include <QList>
#include <QString>
#include <optional>
#include <vector>

#include "gui/views/compose/key_field.h"
#include "gui/views/compose/layer_exceptions.h"

namespace heddle::gui {

/// A recipe that differs from the document's in a few keys, or in its layer exceptions.
struct Neighbour {
  QString words;  // "4", "4 with dp_shard 2"
  QString text;   // of the whole recipe
  KeyValues pairs;
  std::optional<std::vector<recipe::Override>> overrides;
};

/// A recipe for each of a field's next values. If a value does not fit the other keys, the recipe
/// also changes one of them to its nearest fitting value, if there is one.
QList<Neighbour> neighboursOf(const RecipeDocument& document, const KeyField& field);
/// A recipe without the exception, and one for each of its other modes.
QList<Neighbour> neighboursOf(const RecipeDocument& document, const LayerException& exception);

/// Makes the neighbour the document's recipe, as one edit.
void take(RecipeDocument& document, const Neighbour& neighbour, const QString& what);

}  // namespace heddle::gui
