#include "gui/timeline/span_text.h"

#include <QObject>

#include "gui/format.h"

namespace heddle::gui {
namespace {

QString phaseName(uint8_t phase) {
  return phase == 0   ? QObject::tr("forward")
         : phase == 1 ? QObject::tr("backward")
                      : QObject::tr("optimizer");
}

}  // namespace

QString duration(int64_t us) { return format::seconds(static_cast<double>(us) * 1e-6); }

SpanText describeSpan(const std::vector<TimelineRow>& rows, const SpanRef& ref) {
  const TimelineRow& row = rows[ref.lane.row];
  const telemetry::Span& span = row.timeline->lane(ref.lane.stream).spans()[ref.span];
  const QString name = QString::fromStdString(span.name);
  SpanText text;
  text.title = span.module.empty() ? name : QString::fromStdString(span.module);
  text.lines << QStringLiteral("%1 · %2 · %3").arg(name, phaseName(span.phase), row.title);
  text.lines
      << QObject::tr("%1, begins at %2").arg(duration(span.duration_us), duration(span.start_us));
  if (span.stream == telemetry::kBubble) {
    text.lines << QObject::tr("waits for another pipeline stage to reach it");
  } else if (span.stream == telemetry::kWait) {
    text.lines << QObject::tr("waits for the other ranks to reach it");
  } else if (ref.lane.stream == Stream::communication) {
    const Statistics spent =
        row.timeline->statistics({span.start_us, span.start_us + span.duration_us});
    if (spent.exposed > 0) {
      text.exposed = QObject::tr("%1 of it exposed: compute idles").arg(duration(spent.exposed));
    }
  }
  return text;
}

QString describeRows(const std::vector<TimelineRow>& rows) {
  QStringList sentences;
  for (const TimelineRow& row : rows) {
    if (!row.timeline) {
      sentences << QObject::tr("%1: nothing recorded.").arg(row.title);
      continue;
    }
    const Statistics s = row.timeline->statistics();
    sentences << QObject::tr(
                     "%1: step %2, compute %3, communication %4, of which exposed %5 (waiting for "
                     "ranks %6), pipeline bubble %7, idle %8.")
                     .arg(row.title, duration(s.range), duration(s.compute),
                          duration(s.communication), duration(s.exposed), duration(s.waiting),
                          duration(s.bubble), duration(s.idle));
  }
  return sentences.join(' ');
}

}  // namespace heddle::gui
