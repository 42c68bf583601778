#include "gui/timeline/span_text.h"

#include <QObject>
#include <algorithm>
#include <functional>
#include <utility>

#include "gui/format.h"
#include "gui/timeline/transfer_ends.h"

namespace heddle::gui {
namespace {

QString phaseName(uint8_t phase) {
  return phase == 0   ? QObject::tr("forward")
         : phase == 1 ? QObject::tr("backward")
                      : QObject::tr("optimizer");
}

constexpr double kFast = 100;  // MB/s: from there on rates are in GB/s

/// "412 MiB, 21.3 GB/s over dp_shard", and the ranks at its other ends or who let it wait.
void addTransfer(QStringList& lines, const std::vector<TimelineRow>& rows, const SpanRef& ref) {
  const TimelineRow& row = rows[ref.lane.row];
  const telemetry::Span& span = row.timeline->lane(ref.lane.stream).spans()[ref.span];
  const auto ends = endsOf(rows, ref);
  if (span.stream != telemetry::kTransfer) {
    lines << (span.stream == telemetry::kBubble
                  ? QObject::tr("waits for another pipeline stage to reach it")
                  : QObject::tr("waits for the other ranks to reach it"));
    const auto straggler = ends ? stragglerOf(rows, *ends) : std::nullopt;
    if (straggler && *straggler != ref.lane.row)
      lines << QObject::tr("last to reach it: %1").arg(rows[*straggler].title);
    return;
  }
  const plan::Transfer* planned =
      row.plan ? row.plan->transfer(std::max<int64_t>(row.rank, 0), span.node) : nullptr;
  if (planned && planned->bytes > 0) {
    const auto bytes = static_cast<double>(planned->bytes);
    const double rate = span.duration_us > 0 ? bytes / static_cast<double>(span.duration_us) : 0;
    const QString speed = rate < kFast
                              ? QObject::tr("%1 MB/s").arg(QString::number(rate, 'f', 2))
                              : QObject::tr("%1 GB/s").arg(QString::number(rate * 1e-3, 'f', 2));
    lines << QObject::tr("moves %1 a rank, %2, over %3")
                 .arg(format::bytes(bytes), speed, QString::fromStdString(planned->group));
  }
  if (!ends || ends->others.empty()) return;
  QStringList with;
  constexpr size_t kMaxNamed = 6;
  for (size_t i = 0; i < std::min(ends->others.size(), kMaxNamed); ++i)
    with << rows[ends->others[i].lane.row].title;
  if (ends->others.size() > kMaxNamed)
    with << QObject::tr("%1 more").arg(ends->others.size() - kMaxNamed);
  lines << (ends->byName ? QObject::tr("with %1 (by its name; the group is not known)")
                         : QObject::tr("with %1"))
               .arg(with.join(QStringLiteral(", ")));
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
  if (ref.lane.stream == Stream::communication) addTransfer(text.lines, rows, ref);
  if (span.stream == telemetry::kTransfer && ref.lane.stream == Stream::communication) {
    const Statistics spent = row.timeline->statistics(timeOf(span));
    if (spent.exposed > 0)
      text.exposed = QObject::tr("%1 of it exposed: compute idles").arg(duration(spent.exposed));
  }
  if (span.duration_us < 0) text.lines << QObject::tr("ends before it begins: a clock jumped");
  return text;
}

SpanText describeCounter(const Counter& counter, int64_t timeUs) {
  SpanText text;
  text.title = QObject::tr("%1, %2 at %3")
                   .arg(counter.name, format::bytes(counter.at(timeUs)), duration(timeUs));
  const auto parts = counter.partsAt(timeUs);
  if (!parts) return text;
  std::vector<std::pair<int64_t, const char*>> uses;
  for (size_t i = 0; i < plan::kCategories; ++i)
    if (parts->bytes[i] > 0) uses.emplace_back(parts->bytes[i], plan::kCategoryNames[i]);
  std::ranges::stable_sort(uses, std::greater(), &std::pair<int64_t, const char*>::first);
  for (const auto& [bytes, use] : uses)
    text.lines << QStringLiteral("%1 %2").arg(format::bytes(static_cast<double>(bytes)),
                                              QString::fromLatin1(use));
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
    for (const auto& counter : row.counters)
      sentences
          << QObject::tr("%1: %2 at most.").arg(counter->name, format::bytes(counter->most()));
  }
  return sentences.join(' ');
}

}  // namespace heddle::gui
