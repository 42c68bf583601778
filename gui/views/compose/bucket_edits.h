// What an edit of the buckets writes into the recipe. No widgets.
#pragma once

#include "gui/models/recipe_document.h"

namespace heddle::gui {

/// The firsts of buckets of `layers` layers each; what lies around the layers is a bucket of its
/// own.
QList<int> everyLayers(const recipe::Model& model, int layers);

/// The recipe's firsts with the outer modules first … last in one bucket, or in one each.
QList<int> regrouped(const recipe::Recipe& recipe, int first, int last, bool together);

/// Buckets by hand, each given by its first outer module, whatever the mode was.
KeyValues bucketsByHand(const recipe::Model& model, const QList<int>& firsts);

/// The pairs and, where buckets by hand are of a model with another number of layers after them,
/// its buckets: as many layers in each as most of them have.
KeyValues withBuckets(const RecipeDocument& document, KeyValues pairs);

enum class Place { ownBucket, bucketBefore };

/// Whatever is in no bucket gets a place; names of no module go.
KeyValues withAllPlaced(const recipe::Recipe& recipe, Place place);

}  // namespace heddle::gui
