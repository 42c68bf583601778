// Turns an edit of the buckets into keys of the recipe. No widgets.
#pragma once

#include "gui/models/recipe_document.h"

namespace heddle::gui {

/// The first modules of buckets of `layers` layers each; the modules around the layers get
/// buckets of their own.
QList<int> everyLayers(const recipe::Model& model, int layers);

/// The recipe's firsts with the outer modules first … last in one bucket, or in one each.
QList<int> regrouped(const recipe::Recipe& recipe, int first, int last, bool together);

/// Manual buckets, each given by its first outer module, whatever the mode was.
KeyValues bucketsByHand(const recipe::Model& model, const QList<int>& firsts);

/// The pairs and, where they change the number of layers of a model with manual buckets,
/// its buckets: as many layers in each as most of them have.
KeyValues withBuckets(const RecipeDocument& document, KeyValues pairs);

enum class Place { ownBucket, bucketBefore };

/// Places the modules that are in no bucket; drops names that match no module.
KeyValues withAllPlaced(const recipe::Recipe& recipe, Place place);

}  // namespace heddle::gui
