// How one bucket is drawn.
#pragma once

#include <QPainter>

#include "gui/views/compose/bucket_list.h"

namespace heddle::gui {

/// Number, name, bytes and gather time, as much as there is room for. `current`: with a line around
/// it.
void paintBucket(QPainter& painter, const QRectF& band, const BucketList& list, int bucket,
                 bool current);

}  // namespace heddle::gui
