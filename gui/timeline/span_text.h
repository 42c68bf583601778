// A span's description in the tooltip and for a screen reader.
#pragma once

#include <QString>
#include <QStringList>

#include "gui/timeline/timeline_row.h"

namespace heddle::gui {

struct SpanText {
  QString title;      // module, or operator where there is none
  QStringList lines;  // operator and phase; duration and start
  QString exposed;    // of communication that compute does not hide: how much; else empty
};

SpanText describeSpan(const std::vector<TimelineRow>& rows, const SpanRef& ref);

/// A counter's value at a time of its step; memory by its uses, the largest first.
SpanText describeCounter(const Counter& counter, int64_t timeUs);

/// One sentence a row: its step and how the time was spent.
QString describeRows(const std::vector<TimelineRow>& rows);

/// Microseconds in the largest unit that keeps three digits: "412 µs", "1.24 ms".
QString duration(int64_t us);

}  // namespace heddle::gui
