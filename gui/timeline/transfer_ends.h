// A transfer's other ends on the other rows, and who let them wait. No widget.
#pragma once

#include <optional>
#include <vector>

#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

/// A collective's spans on the rows of one step.
struct TransferEnds {
  SpanRef own;
  std::vector<SpanRef> others;
  /// Nothing of the collective's group is known: the others have the same name, and as many of it
  /// before them.
  bool byName = false;
};

/// The transfer, or the one that the span waits for; none where it is neither.
std::optional<TransferEnds> endsOf(const std::vector<TimelineRow>& rows, const SpanRef& span);

/// The row that came to the collective last: of all its ends, the one whose compute before it ended
/// closest to its begin. None where it has one end alone.
std::optional<size_t> stragglerOf(const std::vector<TimelineRow>& rows, const TransferEnds& ends);

}  // namespace heddle::gui
