// The transfers that compute waits for, merged over like layers. No widgets.
#pragma once

#include <QList>
#include <QString>

#include "engine/plan/document.h"

namespace heddle::gui {

struct ExposedFold {
  QString node;        // "all_gather layers.3 (backward), and 31 like it": the longest of them
  QString why;         // of that one
  double seconds = 0;  // of all of them in a step of the rank that waits longest
};

/// The longest first.
QList<ExposedFold> exposedFolds(const plan::Document& document);

}  // namespace heddle::gui
