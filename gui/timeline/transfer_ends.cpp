#include "gui/timeline/transfer_ends.h"

#include <algorithm>
#include <functional>

#include "engine/recipe/stage_groups.h"

namespace heddle::gui {
namespace {

using telemetry::Span;

const std::vector<Span>& transfersOf(const TimelineRow& row) {
  return row.timeline->lane(Stream::communication).spans();
}

const plan::Transfer* plannedOf(const TimelineRow& row, const Span& span) {
  return row.plan && row.rank >= 0 ? row.plan->transfer(row.rank, span.node) : nullptr;
}

/// Whether a row's transfer may be the one looked for.
using Alike = std::function<bool(const Lane& lane, size_t span)>;

/// Test for one name. A comparison of numbers a span: pages ask with every move of the pointer.
Alike alikeByName(const Lane& lane, const Span& like) {
  uint32_t label = 0;
  while (label < lane.labels() &&
         !(lane.labelled(label).stream == like.stream && lane.labelled(label).name == like.name &&
           lane.labelled(label).module == like.module))
    ++label;
  return [label, phase = like.phase](const Lane& of, size_t span) {
    return of.label(span) == label && of.spans()[span].phase == phase;
  };
}

/// The row's transfers over a group.
Alike alikeByGroup(const TimelineRow& row, const std::string& group) {
  return [&row, group](const Lane& of, size_t span) {
    if (of.spans()[span].stream != telemetry::kTransfer) return false;
    const plan::Transfer* planned = plannedOf(row, of.spans()[span]);
    return planned && planned->group == group;
  };
}

Alike alikeByNode(int32_t node) {
  return [node](const Lane& of, size_t span) {
    return of.spans()[span].node == node && of.spans()[span].stream == telemetry::kTransfer;
  };
}

/// How many alike are before that span.
int64_t ordinalOf(const Lane& lane, const Alike& alike, size_t until) {
  int64_t count = 0;
  for (size_t i = 0; i < until; ++i) count += alike(lane, i);
  return count;
}

std::optional<size_t> nthOf(const Lane& lane, const Alike& alike, int64_t ordinal) {
  for (size_t i = 0; i < lane.spans().size(); ++i)
    if (alike(lane, i) && ordinal-- == 0) return i;
  return {};
}

/// Ranks of one pipeline stage have one plan, and its nodes' numbers; others begin a group's
/// transfers in the same order.
Alike alikeOn(const TimelineRow& row, const Span& like, const std::string* group) {
  if (!group) return alikeByName(row.timeline->lane(Stream::communication), like);
  return recipe::joins_stages(*group) ? alikeByGroup(row, *group) : alikeByNode(like.node);
}

/// The transfer that a wait is for: of its name, the next to begin once it has ended.
std::optional<size_t> waitedFor(const std::vector<Span>& spans, size_t wait) {
  const Span& of = spans[wait];
  for (size_t i = wait + 1; i < spans.size(); ++i)
    if (spans[i].stream == telemetry::kTransfer && spans[i].node == of.node &&
        spans[i].name == of.name && spans[i].module == of.module)
      return i;
  return {};
}

/// Time between the last compute that the rank did before the transfer, and the transfer's begin.
int64_t slackOf(const TimelineRow& row, const Span& transfer) {
  const auto& computes = row.timeline->lane(Stream::compute).spans();
  auto at = std::ranges::upper_bound(computes, transfer.start_us, {}, &Span::start_us);
  for (; at != computes.begin(); --at) {
    const Span& compute = *(at - 1);
    const bool isBefore = transfer.node >= 0 && compute.node >= 0
                              ? compute.node < transfer.node
                              : timeOf(compute).end <= transfer.start_us;
    if (isBefore) return std::max<int64_t>(transfer.start_us - timeOf(compute).end, 0);
  }
  return transfer.start_us;
}

}  // namespace

std::optional<TransferEnds> endsOf(const std::vector<TimelineRow>& rows, const SpanRef& ref) {
  if (ref.lane.stream != Stream::communication) return {};
  const TimelineRow& row = rows[ref.lane.row];
  const auto& spans = transfersOf(row);
  size_t own = ref.span;
  if (spans[own].stream != telemetry::kTransfer) {
    const auto waited = waitedFor(spans, own);
    if (!waited) return {};
    own = *waited;
  }
  TransferEnds ends{.own = {ref.lane, own}, .others = {}};
  const plan::Transfer* planned = plannedOf(row, spans[own]);
  const std::vector<int> members =
      planned ? row.plan->members(row.rank, planned->group) : std::vector<int>();
  const std::string* group = members.empty() ? nullptr : &planned->group;
  ends.byName = group == nullptr;
  const int64_t ordinal =
      ordinalOf(row.timeline->lane(Stream::communication), alikeOn(row, spans[own], group), own);
  for (size_t i = 0; i < rows.size(); ++i) {
    const TimelineRow& other = rows[i];
    if (i == ref.lane.row || !other.timeline || other.run != row.run || other.rank < 0) continue;
    if (group && !std::ranges::count(members, static_cast<int>(other.rank))) continue;
    const Alike alike = alikeOn(other, spans[own], group);
    if (const auto end = nthOf(other.timeline->lane(Stream::communication), alike, ordinal))
      ends.others.push_back({{i, Stream::communication}, *end});
  }
  return ends;
}

std::optional<size_t> stragglerOf(const std::vector<TimelineRow>& rows, const TransferEnds& ends) {
  if (ends.others.empty()) return {};
  const auto slack = [&](const SpanRef& end) {
    return slackOf(rows[end.lane.row], transfersOf(rows[end.lane.row])[end.span]);
  };
  SpanRef last = ends.own;
  int64_t least = slack(last);
  for (const SpanRef& end : ends.others)
    if (const int64_t own = slack(end); own < least) least = own, last = end;
  return last.lane.row;
}

}  // namespace heddle::gui
