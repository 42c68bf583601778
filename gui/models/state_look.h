// How states look wherever they are shown: an icon and a tone, next to the word.
#pragma once

#include <QString>

#include "engine/probe/report.h"
#include "gui/theme/icons.h"
#include "storage/run.h"

namespace heddle::gui {

struct StateLook {
  QString icon;
  Tone tone = Tone::muted;
};

/// A run's state; no two share an icon.
StateLook lookOf(storage::RunState state);
/// The status of a probe's check.
StateLook lookOf(probe::Status status);

}  // namespace heddle::gui
