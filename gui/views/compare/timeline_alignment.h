// Where the rows of several steps begin on one axis, so that something in them begins at the same
// place in all of them: the step, a phase, or the chosen row's first span. No widgets.
#pragma once

#include <optional>
#include <vector>

#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

enum class AlignedAt { step, backward, optimizer, chosen };

/// Microseconds from the row's begin; none: the step has no such thing. `chosen`: the row's spans
/// that count, where they are what is aligned.
std::optional<int64_t> anchorOf(const Timeline& timeline, AlignedAt at,
                                const std::function<bool(const telemetry::Span&)>& chosen = {});

/// Shifts of 0 or more, the smallest that do it; rows without an anchor keep their place.
std::vector<int64_t> shiftsFor(const std::vector<std::optional<int64_t>>& anchors);

}  // namespace heddle::gui
